/* SPDX-License-Identifier: MIT
 *
 * find_object_glibc.c: asks _dl_find_object, which is async-signal-safe, or follows the list where glibc
 * has no such function.
 *
 * Zone: SIGNAL.
 * Tested by: unit.modules, unit.loaded_objects
 */
#include "modules/find_object.h"

#include "modules/loaders_list.h"

#include <dlfcn.h>
#include <stddef.h>

extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

bool pp_object_can_find(void)
{
    return _dl_find_object != NULL || pp_loaders_list() != NULL;
}

bool pp_object_find(uintptr_t address, pp_found_object *found)
{
    struct dl_find_object object;
    if (_dl_find_object == NULL) {
        return pp_object_find_listed(address, found);
    }
    if (_dl_find_object((void *)address, &object) != 0) {
        return false;
    }
    *found = (pp_found_object){.start = (uintptr_t)object.dlfo_map_start,
                               .end = (uintptr_t)object.dlfo_map_end,
                               .eh_frame = (uintptr_t)object.dlfo_eh_frame,
                               .map = object.dlfo_link_map};
    return true;
}
