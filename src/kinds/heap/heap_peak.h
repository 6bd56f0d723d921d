/* SPDX-License-Identifier: MIT
 *
 * heap_peak.h: the counts of all buckets at the moment when the most memory was in use.
 *
 * Each sample updates the estimate of the bytes in use. When it is GROWTH (5 %) above the estimate
 * of the last copy, all counts are copied. So the copy is at most 5 % below the true peak, and the
 * number of copies grows with the logarithm: there are 240 from 1 MiB to 100 GiB.
 *
 *   in use        ....:*      * copy
 *              ..*''   '...
 *            .*'          '..
 *         .*'
 *
 * Zone: HOOK.
 * Locks: one flag keeps two threads from copying at once; an allocation never waits for it.
 * Owns: two copies, the last one and the one that is being made, so that a fatal signal's handler
 *       that writes a profile finds a complete one.
 */
#ifndef PP_KINDS_HEAP_HEAP_PEAK_H
#define PP_KINDS_HEAP_HEAP_PEAK_H

#include "kinds/heap/heap_buckets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether peaks are wanted. Callers of pp_heap_peak_add() check it first. */
bool pp_heap_peak_is_wanted(void);

/* Keeps peaks from now on. Counts what is in use already. */
void pp_heap_peak_start(void);

/* Adds `bytes`, which may be negative, to the bytes in use. A sample gives the estimate. */
void pp_heap_peak_add(int64_t bytes);

typedef struct pp_heap_peak_entry {
    const pp_heap_bucket *bucket;
    pp_heap_counts counts;
} pp_heap_peak_entry;

typedef struct pp_heap_peak_copy {
    const pp_heap_peak_entry *entries;
    size_t count;
    bool held;
} pp_heap_peak_copy;

/* Takes the copy, after a new one if more is in use now. The copy does not change until
 * pp_heap_peak_give(). */
void pp_heap_peak_take(pp_heap_peak_copy *taken);
void pp_heap_peak_give(const pp_heap_peak_copy *taken);

/* In the child of fork, where a thread that was copying does not exist. */
void pp_heap_peak_after_fork_in_child(void);

#endif
