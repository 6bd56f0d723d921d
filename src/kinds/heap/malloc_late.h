/* SPDX-License-Identifier: MIT
 *
 * malloc_late.h: finds real functions that were not there when malloc was resolved.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_MALLOC_LATE_H
#define PP_KINDS_HEAP_MALLOC_LATE_H

#include "kinds/heap/malloc_hook.h"

#include <stdint.h>

/* Resolves all hooks, in a library that came late: before the program calls any. */
void pp_malloc_resolve_all(void);

/*
 * Resolves the hook without waiting for the loader's first lock. `caller` is an address in the code
 * that called the hook. Leaves the hook unresolved if there is not even a stand-in.
 */
void pp_malloc_resolve_late(pp_malloc_hook *hook, uintptr_t caller);

#endif
