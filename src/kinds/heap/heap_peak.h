/* SPDX-License-Identifier: MIT
 *
 * heap_peak.h: what the buckets held when the most memory was in use.
 *
 * The estimate of the bytes in use is kept up to date with each sample; when it is GROWTH above
 * that of the last copy, all counts are copied. So the copy is at most that much below the true
 * peak, and the number of copies is that of the logarithm: from one mebibyte to 100 GiB there are
 * 240.
 *
 *   in use        ....:*      * copy
 *              ..*''   '...
 *            .*'          '..
 *         .*'
 *
 * Zone: HOOK.
 * Locks: one flag keeps two threads from copying at once; nobody waits for it. Owns: two copies,
 * the last one and the one that is being made, so that a profile that is written from a fatal
 * signal's handler finds a whole one.
 */
#ifndef PP_KINDS_HEAP_HEAP_PEAK_H
#define PP_KINDS_HEAP_HEAP_PEAK_H

#include "kinds/heap/heap_buckets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether peaks are wanted; the calls below cost nothing else. */
extern bool pp_heap_peak_wanted;

/* From now on. What is in use already is counted. */
void pp_heap_peak_start(void);

/* `bytes` more (or less) are in use, as estimated from a sample. */
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

/* The copy, brought up to date if more is in use now. It stays as it is until it is given back. */
void pp_heap_peak_take(pp_heap_peak_copy *taken);
void pp_heap_peak_give(const pp_heap_peak_copy *taken);

/* In the child of fork: whoever was copying does not exist. */
void pp_heap_peak_after_fork_in_child(void);

#endif
