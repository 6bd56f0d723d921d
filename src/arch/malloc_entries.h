/* SPDX-License-Identifier: MIT
 *
 * malloc_entries.h: recognizes addresses in the entries of hooked allocation functions.
 *
 * The entries, and only they, are side by side in arch/<name>_malloc.S. A heap sample begins with
 * the entry that the program called, so its leaf is recognized as the allocator's without a name.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_MALLOC_ENTRIES_H
#define PP_ARCH_MALLOC_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

/* Both are NULL in a program without the entries: a fully static one without --wrap. */
extern const char pp_malloc_entries[] __attribute__((weak, visibility("hidden")));
extern const char pp_malloc_entries_end[] __attribute__((weak, visibility("hidden")));

static inline bool pp_malloc_entries_have(uintptr_t address)
{
    return address - (uintptr_t)pp_malloc_entries <
           (uintptr_t)pp_malloc_entries_end - (uintptr_t)pp_malloc_entries;
}

#endif
