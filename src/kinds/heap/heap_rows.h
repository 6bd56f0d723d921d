/* SPDX-License-Identifier: MIT
 *
 * heap_rows.h: a snapshot of the heap's buckets, as rows of four numbers in a fixed order.
 * Profiles, records and the text are made of rows.
 *
 *   buckets of hooked allocators  --+--> rows --> profile.proto (scaled)
 *   buckets of described heaps    --+         --> text (raw, where one rate is enough)
 *                                             --> pprof_mem_record (raw)
 *
 * The program runs on while a reader reads. Each row is consistent in itself (never more freed than
 * allocated); a cycle of a collector is in all rows or in none.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no loader lock).
 * Owns: references to labels, until release. Everything else is in the arena, except stacks, which
 *       stay for ever.
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
    uint64_t size;                       /* of its blocks, or the least size of a class */
    uint64_t rate;                       /* of its samples */
    const pprof_labels *labels;          /* of the threads that allocated; NULL: none, or all */
    uint64_t alloc_objects, alloc_bytes; /* raw, whatever `value` is */
    uint64_t trimmed_bytes;              /* raw: unmapped parts of mappings that are in use */
    double alloc_blocks, inuse_blocks;   /* estimates of a class; 0 = estimate by the size */
    int64_t value[PP_HEAP_VALUES];
} pp_heap_row;

typedef enum pp_heap_moment {
    PP_HEAP_NOW,
    PP_HEAP_NOW_BY_LABELS, /* now, with a row for each set of labels; else a row has all labels */
    PP_HEAP_AT_PEAK        /* when most was in use (heap_peak.h); only hooked allocators */
} pp_heap_moment;

typedef enum pp_heap_scaling {
    PP_HEAP_RAW,    /* counts of samples; a row for each stack, size and rate */
    PP_HEAP_SCALED, /* estimates; a row for each stack and size */
    PP_HEAP_EITHER  /* raw if all samples have one rate and none was lost, else scaled */
} pp_heap_scaling;

typedef struct pp_heap_rows {
    pp_heap_row *list;
    size_t count;
    pp_label_shares shares; /* holds the references to the rows' labels */
    bool scaled;
    bool has_twins; /* two buckets may have been of one place; not 0 rows then */
    uint64_t rate;  /* of all samples; the current rate if there are no samples or several rates */
} pp_heap_rows;

/*
 * Reads a row for each site that has allocated, even if all blocks were freed. Rows are in the
 * order of value[first], from the largest to the smallest, ties by stack, then by size, then by
 * labels. The caller releases the rows if they may have labels. 0 or -ENOMEM.
 */
int pp_heap_rows_read(pp_heap_moment moment, pp_heap_scaling scaling, int first, pp_arena *arena,
                      pp_heap_rows *rows);

/* Drops the references to labels. */
void pp_heap_rows_release(const pp_heap_rows *rows);

/* Turns the raw values of a row into estimates. */
void pp_heap_row_scale(pp_heap_row *row);

#endif
