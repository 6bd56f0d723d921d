/* SPDX-License-Identifier: MIT
 *
 * heap_parts.h: which part of a bucket's counts belongs to a set of labels.
 *
 * The program runs on while a reader reads a bucket, then the cells of its labels. So the counts of
 * a cell are adjusted until both the part and the rest are possible: no more freed than allocated,
 * and no blocks without bytes. The sum of all parts is the bucket.
 *
 * Zone: NORMAL, and the fatal-signal writer (pure arithmetic).
 */
#ifndef PP_KINDS_HEAP_HEAP_PARTS_H
#define PP_KINDS_HEAP_HEAP_PARTS_H

#include "kinds/heap/heap_buckets.h"
#include "profile/label_shares.h"

/* Moves the share of one set from `rest` to `part`. At first, `rest` has the bucket's counts. */
void pp_heap_part_take(const pp_heap_bucket *bucket, const pp_label_share *share,
                       pp_heap_counts *rest, pp_heap_counts *part);

#endif
