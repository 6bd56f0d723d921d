/* SPDX-License-Identifier: MIT
 *
 * malloc_mappings_static.c: stands in for malloc_real.c in the eyes of the hooks of mmap, in a fully
 * static program. A file of its own, since malloc_static.c cannot be linked without --wrap.
 *
 * Zone: HOOK.
 */
#include "kinds/heap/malloc_mappings.h"

/* libc's malloc maps its memory by an internal name, past our mmap. */
bool pp_malloc_is_allocators(uintptr_t address)
{
    (void)address;
    return false;
}
