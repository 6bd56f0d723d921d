/* SPDX-License-Identifier: MIT
 *
 * real.h: finds the real functions, which the program would call without our hooks.
 *
 * The library finds them once, when it is loaded. A hook that is called even earlier (by another
 * library's constructor) finds its function itself. One of two files is linked:
 *
 *   real_dynamic.c   asks the loader: libpprof.so, libpprof.a
 *   real_static.c    has a table of libc's internal names for them: libpprof_static.a
 *
 * Zone: HOOK.
 * Locks: none (each pointer is written once with the same value).
 */
#ifndef PP_HOST_REAL_H
#define PP_HOST_REAL_H

#include <errno.h>
#include <stddef.h>

/* The definition of `name` that the program would use without this library, or NULL. */
void *pp_real_find(const char *name);

/* The definition of a certain version, which libc keeps for old programs. */
void *pp_real_find_version(const char *name, const char *version);

/* pp_real_find(), but remembers the result in *slot. */
static inline void *pp_real(void **slot, const char *name)
{
    void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (found == NULL) {
        found = pp_real_find(name);
        __atomic_store_n(slot, found, __ATOMIC_RELAXED);
    }
    return found;
}

/* What a function of libc returns for this result of a system call. */
static inline long pp_real_result(long result)
{
    if ((unsigned long)result > -4096UL) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

#endif
