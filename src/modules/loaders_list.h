/* SPDX-License-Identifier: MIT
 *
 * loaders_list.h: the list of loaded objects that the loader keeps for debuggers [<link.h>].
 *
 * The loader changes the list under a lock, so a reader reads only what no load changes, or reads it
 * by checked reads. glibc calls the list _r_debug, musl _dl_debug_addr.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_MODULES_LOADERS_LIST_H
#define PP_MODULES_LOADERS_LIST_H

#include <link.h>
#include <stdint.h>

/* The program's entry, the first one. NULL before the loader has a list, and in some fully static
 * programs. Defined in one of two files: loaders_list_glibc.c, or loaders_list_musl.c. */
const struct link_map *pp_loaders_list(void);

/* The last entry up to which all that the list has stays for ever, so that it can be read in place: its bias is this one.
 * UINTPTR_MAX: there is no such entry. */
uintptr_t pp_loaders_list_lasting(void);

#endif
