/* SPDX-License-Identifier: MIT
 *
 * bump.c: chunks from the kernel, cut from front to back (drawing in the header).
 *
 * Zone: SIGNAL (bare mmap and munmap).
 * Owns: the chunks.
 * Tested by: unit.labels, unit.heap_threads
 */
#include "store/bump.h"

#include "base/memory.h"

#include <stdbool.h>

enum {
    ALIGNMENT = 16,
    CHUNK_MIN = 128 * 1024,     /* a few hundred buckets: most programs need one or two chunks */
    CHUNK_MAX = 2 * 1024 * 1024 /* untouched pages cost nothing but address space */
};

struct pp_bump_chunk {
    uint64_t size;
    uint64_t used; /* from the start of the chunk; may exceed `size` */
};

static struct pp_bump_chunk *map_chunk(const struct pp_bump_chunk *full)
{
    uint64_t size = full == NULL ? CHUNK_MIN : full->size * 2;
    for (size = size < CHUNK_MAX ? size : CHUNK_MAX; size >= CHUNK_MIN; size /= 2) {
        struct pp_bump_chunk *chunk = pp_memory_map(size);
        if (chunk != NULL) {
            chunk->size = size;
            chunk->used = sizeof *chunk;
            return chunk;
        }
    }
    return NULL;
}

void *pp_bump_alloc(pp_bump *memory, size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct pp_bump_chunk *chunk = __atomic_load_n(&memory->newest, __ATOMIC_ACQUIRE);
    for (;;) {
        if (chunk != NULL) {
            uint64_t at = __atomic_fetch_add(&chunk->used, bytes, __ATOMIC_RELAXED);
            if (at + bytes <= chunk->size) {
                return (char *)chunk + at;
            }
        }
        struct pp_bump_chunk *next = map_chunk(chunk);
        if (next == NULL) {
            return NULL;
        }
        if (__atomic_compare_exchange_n(&memory->newest, &chunk, next, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            chunk = next;
        } else {
            pp_memory_unmap(next, next->size);
        }
    }
}
