/* SPDX-License-Identifier: MIT
 *
 * new_profile.c: pprof_new_profile().
 *
 * Zone: NORMAL.
 * Tested by: e2e.profiles, unit.custom_profiles
 */
#include "pprof.h"

#include "kinds/custom/custom_profiles.h"
#include "kinds/custom/profile_names.h"
#include "modules/modules.h"
#include "output/prepare.h"

#include <errno.h>
#include <stddef.h>

pprof_profile *pprof_new_profile(const char *name)
{
    int error = pp_profile_name_check(name);
    pprof_profile *profile = NULL;
    if (error == 0) {
        pp_prepare_walks();
        pp_modules_refresh();
        profile = pp_custom_profile_new(name, &error);
    }
    if (profile == NULL) {
        errno = -error;
    }
    return profile;
}
