/* SPDX-License-Identifier: MIT
 *
 * malloc_objects_static.c: replaces malloc_objects.c in a fully static program, for the hooks of
 * mmap. The function has a file of its own, since malloc_static.c cannot be linked without --wrap.
 *
 * Zone: HOOK.
 * Tested by: e2e.static
 */
#include "kinds/heap/malloc_objects.h"

/* libc's malloc maps its memory by an internal name, so that our mmap does not see these calls. */
bool pp_malloc_is_allocators(uintptr_t address)
{
    (void)address;
    return false;
}
