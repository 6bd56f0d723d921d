/* SPDX-License-Identifier: MIT
 *
 * bump.h: a bump allocator: memory that any thread can get piece by piece at any time, and that nobody frees.
 *
 * Buckets live as long as the process, so there is nothing to free and nothing to lock. One
 * addition cuts a piece from the newest chunk. A thread that finds the chunk used up maps the next
 * one; if two threads do so, the second unmaps its own.
 *
 *   newest -> [header|used.......|free  ]      older chunks are full; nothing points to them
 *
 * Zone: SIGNAL (bare mmap and munmap).
 * Owns: its chunks, for ever.
 */
#ifndef PP_STORE_BUMP_H
#define PP_STORE_BUMP_H

#include <stddef.h>
#include <stdint.h>

typedef struct pp_bump {
    struct pp_bump_chunk *newest;
} pp_bump;

#define PP_BUMP_INIT                                                                               \
    {                                                                                              \
        NULL                                                                                       \
    }

/* Returns zeroed memory, aligned to 16 bytes; NULL if the kernel refuses. `bytes` is at most 64
 * KiB. */
void *pp_bump_alloc(pp_bump *memory, size_t bytes);

#endif
