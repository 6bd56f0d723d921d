/* SPDX-License-Identifier: MIT
 *
 * real.h: the functions that our hooks stand in front of.
 *
 * Looked up once when the library is loaded; a hook that is called even earlier (from another
 * library's constructor) looks up on its own. Where they are is answered by one of two files:
 *
 *   real_dynamic.c   the loader is asked: libpprof.so, libpprof.a
 *   real_static.c    libc's own names for them, in a table: libpprof_static.a
 *
 * Zone: HOOK.
 * Locks: none (each pointer is written once with the same value).
 */
#ifndef PP_HOST_REAL_H
#define PP_HOST_REAL_H

#include <stddef.h>

/* The definition of `name` that the program would have without us. NULL if there is none. */
void *pp_real_find(const char *name);

/* That one of a certain version, which libc keeps for old programs. */
void *pp_real_find_version(const char *name, const char *version);

/* The same, cached in *slot. */
static inline void *pp_real(void **slot, const char *name)
{
    void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (found == NULL) {
        found = pp_real_find(name);
        __atomic_store_n(slot, found, __ATOMIC_RELAXED);
    }
    return found;
}

#endif
