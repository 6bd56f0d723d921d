/* SPDX-License-Identifier: MIT
 *
 * memory.h: maps and unmaps the library's own memory.
 *
 * The library hooks mmap and its like, since the program's mappings belong to the heap profile. Its
 * own mappings do not, so these are system calls, which reach no hook. They leave errno alone.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_MEMORY_H
#define PP_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Returns zeroed memory, or NULL. The kernel provides only pages that are used. */
void *pp_memory_map(size_t bytes);

/* Resizes the memory and may move it; returns the new address. NULL if this fails: then nothing has
 * changed. */
void *pp_memory_resize(void *memory, size_t bytes, size_t new_bytes);

/* Has the kernel provide the pages of the memory now, if it can (Linux 5.14) and they are many. */
void pp_memory_fill(void *memory, size_t bytes);

/* Gives the whole pages within back to the kernel. They stay mapped, and read as zero afterwards. */
void pp_memory_empty(void *memory, size_t bytes);

void pp_memory_unmap(void *memory, size_t bytes);

/* Calls `visit` with all memory that is mapped now; not with what is mapped beyond 512 pieces. What
 * other threads map or unmap meanwhile may be missing. */
void pp_memory_each(void (*visit)(uintptr_t start, size_t bytes, void *context), void *context);

#endif
