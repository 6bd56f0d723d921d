/* SPDX-License-Identifier: MIT
 *
 * mappings.c: takes the mappings of the module table.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.count_profile
 */
#include "profile/mappings.h"

#include "modules/modules.h"

#include <errno.h>

int pp_profile_add_mappings(pp_arena *arena, pp_profile *profile)
{
    pp_mapping *mappings = NULL;
    size_t count = 0;
    int error = pp_modules_mappings(arena, &mappings, &count);
    if (error == -ENOMEM) {
        return error;
    }
    profile->mappings = mappings;
    profile->mapping_count = count;
    return 0;
}
