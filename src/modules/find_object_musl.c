/* SPDX-License-Identifier: MIT
 *
 * find_object_musl.c: see the header.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.musl, unit.modules
 */
#include "modules/find_object.h"

#include "modules/loaders_list.h"

#include <stddef.h>

bool pp_object_can_find(void)
{
    return pp_loaders_list() != NULL;
}

bool pp_object_find(uintptr_t address, pp_found_object *found)
{
    return pp_object_find_listed(address, found);
}
