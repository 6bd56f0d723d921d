/* SPDX-License-Identifier: MIT
 *
 * loader_static.c: a fully static program has no loader to look into. What it may dlopen is counted by
 * the hook of dlclose alone.
 *
 * Zone: NORMAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "sys/loader.h"

bool pp_loader_find_state(const void **object, size_t *size)
{
    (void)object;
    (void)size;
    return false;
}
