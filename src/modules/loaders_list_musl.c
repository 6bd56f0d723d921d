/* SPDX-License-Identifier: MIT
 *
 * loaders_list_musl.c: see the header.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.musl
 */
#include "modules/loaders_list.h"

#include <stddef.h>

extern struct r_debug *const loaders_list __asm__("_dl_debug_addr") __attribute__((weak));

const struct link_map *pp_loaders_list(void)
{
    return &loaders_list != NULL && loaders_list != NULL ? loaders_list->r_map : NULL;
}

/* libc is there from the start, and musl appends to the list, and takes entries from its end only. */
uintptr_t pp_loaders_list_lasting(void)
{
    return pp_loaders_list() != NULL ? (uintptr_t)loaders_list->r_ldbase : UINTPTR_MAX;
}
