/* SPDX-License-Identifier: MIT
 *
 * memory_stats.h: how much memory the program uses, in the terms of Go's MemStats
 * [runtime.ReadMemStats].
 *
 *   exact        what libc's allocator says of itself (sys/allocator.h), what the kernel says
 *   estimated    from samples: what is counted since the start, and everything about an allocator
 *                that is not libc's
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_MEMORY_STATS_H
#define PP_KINDS_HEAP_MEMORY_STATS_H

#include "kinds/heap/heap_rows.h"
#include "kinds/heap/heap_cycles.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Sizes up to 128 in steps of 16, then four to each doubling up to 32 KiB: what is above is
     * a large block, and not counted by size. */
    PP_SIZE_CLASSES = 40
};

typedef struct pp_size_class {
    uint64_t size; /* the largest of it */
    uint64_t mallocs, frees;
} pp_size_class;

typedef struct pp_memory_stats {
    /* read */
    bool is_libc; /* the allocator's own numbers are known */
    uint64_t heap_alloc, heap_sys, heap_idle;
    uint64_t stack;    /* of the main thread */
    uint64_t own;      /* tables of this library */
    uint64_t peak_rss; /* bytes */
    pp_heap_collector collector;
    /* estimated */
    uint64_t total_alloc, mallocs, frees;
    pp_size_class by_size[PP_SIZE_CLASSES];
} pp_memory_stats;

/* Fills in the first part, and 0 elsewhere. */
void pp_memory_stats_read(pp_memory_stats *stats);

/* Adds what the rows say. */
void pp_memory_stats_estimate(const pp_heap_rows *rows, pp_memory_stats *stats);

/* Index of the class of a block; PP_SIZE_CLASSES for a large one. */
unsigned pp_size_class_of(uint64_t size);

#endif
