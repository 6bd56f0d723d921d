/* SPDX-License-Identifier: MIT
 *
 * loaders_list_glibc.c: see the header.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.attached, e2e.static
 */
#include "modules/loaders_list.h"

#include <stddef.h>

extern struct r_debug loaders_list __asm__("_r_debug") __attribute__((weak));

const struct link_map *pp_loaders_list(void)
{
    return &loaders_list != NULL ? loaders_list.r_map : NULL;
}

uintptr_t pp_loaders_list_lasting(void)
{
    return UINTPTR_MAX;
}
