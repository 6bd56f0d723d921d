/* SPDX-License-Identifier: MIT
 *
 * heap_rows.h: a snapshot of the heap's buckets, as rows of four numbers in a fixed order: what the
 * profiles, the records and the text are made of.
 *
 *   buckets of hooked allocators  --+--> rows --> profile.proto (scaled)
 *   buckets of described heaps    --+         --> text (raw, where one rate is enough)
 *                                             --> pprof_mem_record (raw)
 *
 * The program goes on while they are read. Each row is consistent in itself (never more freed than
 * allocated); a cycle of a collector is in all rows or in none.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no loader lock).
 * Owns: references to labels, until release; else everything is in the arena, but for the stacks,
 * which stay for ever.
 */
#ifndef PP_KINDS_HEAP_HEAP_ROWS_H
#define PP_KINDS_HEAP_HEAP_ROWS_H

#include "base/arena.h"
#include "profile/label_shares.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_HEAP_ALLOC_OBJECTS,
    PP_HEAP_ALLOC_SPACE,
    PP_HEAP_INUSE_OBJECTS,
    PP_HEAP_INUSE_SPACE,
    PP_HEAP_VALUES
};

typedef struct pp_heap_row {
    const struct pp_trie_stack *stack;   /* store/stack_trie.h */
    uint64_t size;                       /* of its blocks, or the least of a class of sizes */
    uint64_t rate;                       /* at which its samples were taken */
    const pprof_labels *labels;          /* of the threads that allocated; NULL: none, or all */
    uint64_t alloc_objects, alloc_bytes; /* raw, whatever `value` is */
    uint64_t trimmed_bytes;              /* raw: gone of mappings that are in use in part */
    double alloc_blocks, inuse_blocks;   /* of a class: the estimates; 0 = by the size */
    int64_t value[PP_HEAP_VALUES];
} pp_heap_row;

typedef enum pp_heap_moment {
    PP_HEAP_NOW,
    PP_HEAP_NOW_BY_LABELS, /* and a row for each set of labels; else a row is for all of them */
    PP_HEAP_AT_PEAK        /* when most was in use (kinds/heap/heap_peak.h); of hooked allocators */
} pp_heap_moment;

typedef enum pp_heap_scaling {
    PP_HEAP_RAW,    /* samples as they were taken; a row for each stack, size and rate */
    PP_HEAP_SCALED, /* estimates; a row for each stack and size */
    PP_HEAP_EITHER  /* raw if all samples were taken at one rate and none was lost, else scaled */
} pp_heap_scaling;

typedef struct pp_heap_rows {
    pp_heap_row *list;
    size_t count;
    pp_label_shares shares; /* whose references the rows have */
    bool scaled;
    uint64_t rate; /* of all samples, where it is one; else, or without samples, the current one */
} pp_heap_rows;

/*
 * Rows of sites where something was allocated, also if it was all freed, ordered by value[first]
 * from the largest to the smallest, ties by stack, then by size, then by labels. 0 or -ENOMEM.
 * Release them where there may be labels.
 */
int pp_heap_rows_read(pp_heap_moment moment, pp_heap_scaling scaling, int first, pp_arena *arena,
                      pp_heap_rows *rows);

/* Gives references to labels back. */
void pp_heap_rows_release(const pp_heap_rows *rows);

/* Turns the raw values of a row into estimates. */
void pp_heap_row_scale(pp_heap_row *row);

#endif
