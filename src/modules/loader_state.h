/* SPDX-License-Identifier: MIT
 *
 * loader_state.h: what is different in the loaders of the C libraries.
 *
 * glibc's loader unloads objects, and keeps counters in _rtld_global (modules/loader.h). musl's loader
 * is libc itself; its dlclose does nothing, so every object stays, and no rule gets stale.
 *
 * Zone: SIGNAL, except pp_loader_state.
 */
#ifndef PP_MODULES_LOADER_STATE_H
#define PP_MODULES_LOADER_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether dlclose leaves every object where it is. These functions are defined in one of two files:
 * loader_state_glibc.c, or loader_state_musl.c. */
bool pp_loader_never_unloads(void);

/* Whether the loader's object is libc. */
bool pp_loader_is_libc(void);

#endif
