/* SPDX-License-Identifier: MIT
 *
 * lifetimes.h: counts sampled blocks that are freed, by the bucket that they were allocated in, by
 * how long they lived, and by the stack that freed them.
 *
 *   free --> pp_heap_detach --> pp_lifetimes_record --> pp_heap_freed
 *                                 [ bucket | class | stack of the free ] : blocks, microseconds
 *
 * A block has a lifetime if it was allocated after the first wish for lifetimes, since the table of
 * live blocks has births from then on (kinds/heap/live_table.h).
 *
 * Zone: HOOK.
 * Owns: the table, for ever.
 */
#ifndef PP_KINDS_HEAP_LIFETIMES_H
#define PP_KINDS_HEAP_LIFETIMES_H

#include "kinds/heap/heap_buckets.h"
#include "store/stack_counts.h"
#include "unwind/caller.h"

#include <stdbool.h>
#include <stdint.h>

/* From now on frees are recorded. 0 or -ENOMEM. */
int pp_lifetimes_want(void);

/* Whether frees are recorded, so that the hooks have to read births. */
bool pp_lifetimes_are_wanted(void);

/* Records that the block, whose record is detached, is freed by `caller` now. `birth_ns`: 0 if it
 * is not known; then this does nothing. Preserves errno. */
void pp_lifetimes_record(pp_heap_block block, uint64_t birth_ns, const pp_caller *caller);

/* An entry of the table: blocks of one bucket and one class that one stack has freed. */
typedef struct pp_lifetime {
    const pp_heap_bucket *bucket;
    const pp_trie_stack *freed; /* the stack that has freed the blocks */
    uint64_t least_us;          /* 0, or a power of two: what the blocks lived at least */
    uint64_t blocks, sum_us;    /* samples; rounded for each of them */
} pp_lifetime;

/* NULL: nobody has asked. pp_lifetime_of() reads one of its entries. */
const pp_stack_counts *pp_lifetimes_table(void);
pp_lifetime pp_lifetime_of(const pp_stack_entry *entry);

/* The labels of the allocations: the cells' owners are entries. NULL: there are none. */
pp_label_cells *pp_lifetimes_labels(void);
enum { PP_LIFETIME_CELL_BLOCKS, PP_LIFETIME_CELL_SUM };

/* The number of frees that could not be recorded, and since when frees are (CLOCK_MONOTONIC). */
uint64_t pp_lifetimes_lost(void);
uint64_t pp_lifetimes_since(void);

#endif
