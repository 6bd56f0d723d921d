/* SPDX-License-Identifier: MIT
 *
 * memory_stats.h: how much memory the program uses, in the terms of Go's MemStats
 * [runtime.ReadMemStats].
 *
 *   exact        numbers of libc's allocator (sys/allocator.h) and of the kernel
 *   estimated    from samples: counts since the start, and all numbers of another allocator
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_HEAP_MEMORY_STATS_H
#define PP_KINDS_HEAP_MEMORY_STATS_H

#include "kinds/heap/heap_cycles.h"
#include "kinds/heap/heap_rows.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Sizes up to 128 in steps of 16, then four for each doubling up to 32 KiB. A larger block is
     * not counted by size. */
    PP_SIZE_CLASSES = 40
};

typedef struct pp_size_class {
    uint64_t size; /* the largest of the class */
    uint64_t mallocs, frees;
} pp_size_class;

typedef struct pp_memory_stats {
    /* read */
    bool is_libc; /* the allocator is libc's, whose numbers are exact */
    uint64_t heap_alloc, heap_sys, heap_idle;
    uint64_t stack;    /* of the main thread */
    uint64_t own;      /* tables of this library */
    uint64_t peak_rss; /* bytes */
    pp_heap_collector collector;
    /* estimated */
    uint64_t total_alloc, mallocs, frees;
    pp_size_class by_size[PP_SIZE_CLASSES];
} pp_memory_stats;

/* Fills in the numbers that are read and the sizes of classes; sets all others to 0. */
void pp_memory_stats_read(pp_memory_stats *stats);

/* Adds the estimates from the rows. */
void pp_memory_stats_estimate(const pp_heap_rows *rows, pp_memory_stats *stats);

/* Returns the index of the class of a block; PP_SIZE_CLASSES for a large block. */
unsigned pp_size_class_of(uint64_t size);

#endif
