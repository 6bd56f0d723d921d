/* SPDX-License-Identifier: MIT
 *
 * real.h: the functions that our hooks stand in front of.
 *
 * Looked up once when the library is loaded; a hook that is called even earlier (from another
 * library's constructor) looks up on its own.
 *
 * Zone: HOOK.
 * Locks: none (each pointer is written once with the same value).
 * Owns: nothing.
 */
#ifndef PP_HOOK_REAL_H
#define PP_HOOK_REAL_H

#include <dlfcn.h>
#include <stddef.h>

/* The next definition of `name` behind ours; cached in *slot. NULL if there is none. */
static inline void *pp_real(void **slot, const char *name)
{
    void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(slot, found, __ATOMIC_RELAXED);
    }
    return found;
}

#endif
