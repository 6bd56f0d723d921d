/* SPDX-License-Identifier: MIT
 *
 * malloc_entries.h: which addresses are hooked allocation functions, as the program calls them.
 *
 * The entries lie side by side in arch/<name>_malloc.S. Nothing else does. A sample of the heap
 * begins with the entry that was called, so the leaf needs no name to be known as the allocator's.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_MALLOC_ENTRIES_H
#define PP_ARCH_MALLOC_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

/* Both are NULL where nobody linked the entries: in a fully static program without --wrap. */
extern const char pp_malloc_entries[] __attribute__((weak, visibility("hidden")));
extern const char pp_malloc_entries_end[] __attribute__((weak, visibility("hidden")));

static inline bool pp_malloc_entries_have(uintptr_t address)
{
    return address - (uintptr_t)pp_malloc_entries <
           (uintptr_t)pp_malloc_entries_end - (uintptr_t)pp_malloc_entries;
}

#endif
