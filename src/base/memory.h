/* SPDX-License-Identifier: MIT
 *
 * memory.h: the library's own mappings, from one place.
 *
 * mmap and its like are hooked, since the program's mappings belong into the heap profile; ours do
 * not. A mark of the thread tells the hook who calls. Not by bare system calls: tests refuse memory
 * by standing in front of mmap, and sanitizers have to see what is mapped.
 *
 * Zone: SIGNAL (mmap, mremap, munmap and madvise).
 * Owns: the mark (1 byte of TLS).
 */
#ifndef PP_BASE_MEMORY_H
#define PP_BASE_MEMORY_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>

/* Set while the calling thread is in one of the functions here. */
extern PP_TLS bool pp_memory_is_calling;

/* Mappings of this size are left out of the host's core dumps: tables are reserved larger than they
 * are filled. */
enum { PP_MEMORY_NOT_DUMPED = 256 * 1024 };

/* Zeroed memory, or NULL. Nothing is reserved for pages that are never touched. */
void *pp_memory_map(size_t bytes);

/* The same memory with another size, maybe elsewhere; NULL, and nothing has changed. */
void *pp_memory_resize(void *memory, size_t bytes, size_t new_bytes);

void pp_memory_unmap(void *memory, size_t bytes);

#endif
