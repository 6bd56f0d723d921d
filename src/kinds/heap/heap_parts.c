/* SPDX-License-Identifier: MIT
 *
 * heap_parts.c: divides a bucket's counts between a set of labels and the rest.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "kinds/heap/heap_parts.h"

/* The numbers of pieces on both sides of a division. Each piece is `least` to `most`. */
typedef struct pieces {
    uint64_t mine, others;
    uint64_t least, most;
} pieces;

static uint64_t less(uint64_t x, uint64_t y)
{
    return x > y ? x - y : 0;
}

static uint64_t lower(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

static uint64_t higher(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}

/* Returns the part of `sum` that is nearest to `wanted`, and possible for both sides. */
static uint64_t divide(uint64_t sum, uint64_t wanted, const pieces *p)
{
    uint64_t low = higher(p->mine * p->least, less(sum, p->others * p->most));
    uint64_t high = lower(p->mine * p->most, less(sum, p->others * p->least));
    return lower(higher(lower(wanted, high), low), sum);
}

/* Returns the share of `some` of the `objects` to which `whole` belongs. */
static uint64_t in_proportion(uint64_t whole, uint64_t some, uint64_t objects)
{
    return some == objects ? whole : (uint64_t)((double)whole * (double)some / (double)objects);
}

/* Cells do not count weights: a part's blocks get the average weight of the bucket's blocks. */
static void divide_weight(pp_heap_counts *rest, pp_heap_counts *part)
{
    uint64_t free_objects = part->free_objects + rest->free_objects;
    uint64_t live_of_part = part->alloc_objects - part->free_objects;
    uint64_t live = live_of_part + rest->alloc_objects - rest->free_objects;
    uint64_t held = rest->alloc_weight - rest->free_weight;
    part->free_weight = in_proportion(rest->free_weight, part->free_objects, free_objects);
    part->alloc_weight = part->free_weight + in_proportion(held, live_of_part, live);
    rest->free_weight -= part->free_weight;
    rest->alloc_weight -= part->alloc_weight;
}

void pp_heap_part_take(const pp_heap_bucket *bucket, const pp_label_share *share,
                       pp_heap_counts *rest, pp_heap_counts *part)
{
    const uint64_t *value = share->value;
    uint64_t least = bucket->size;
    uint64_t most = pp_heap_bucket_largest(bucket);
    uint64_t held = rest->alloc_bytes - rest->free_bytes;

    part->alloc_objects = lower(value[PP_HEAP_CELL_ALLOC_OBJECTS], rest->alloc_objects);
    rest->alloc_objects -= part->alloc_objects;
    part->free_objects = divide(rest->free_objects, value[PP_HEAP_CELL_FREE_OBJECTS],
                                &(pieces){part->alloc_objects, rest->alloc_objects, 0, 1});
    rest->free_objects -= part->free_objects;

    const pieces live = {part->alloc_objects - part->free_objects,
                         rest->alloc_objects - rest->free_objects, least, most};
    uint64_t part_held =
        divide(held, less(value[PP_HEAP_CELL_ALLOC_BYTES], value[PP_HEAP_CELL_FREE_BYTES]), &live);
    part->free_bytes = divide(rest->free_bytes, value[PP_HEAP_CELL_FREE_BYTES],
                              &(pieces){part->free_objects, rest->free_objects, least, most});
    part->alloc_bytes = part_held + part->free_bytes;
    rest->free_bytes -= part->free_bytes;
    rest->alloc_bytes -= part->alloc_bytes;

    part->trimmed_bytes = divide(rest->trimmed_bytes, value[PP_HEAP_CELL_TRIMMED_BYTES],
                                 &(pieces){part_held, held - part_held, 0, 1});
    rest->trimmed_bytes -= part->trimmed_bytes;
    divide_weight(rest, part);
}
