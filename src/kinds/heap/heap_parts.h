/* SPDX-License-Identifier: MIT
 *
 * heap_parts.h: what of a bucket's blocks fell to a set of labels.
 *
 * The program goes on while a bucket and the cells of its labels are read, one after the other.
 * What is found in a cell is taken as far as it leaves something possible for the rest: no more
 * freed than allocated, no blocks without bytes, and all parts together are the bucket.
 *
 * Zone: NORMAL, and the fatal-signal writer (pure arithmetic).
 */
#ifndef PP_KINDS_HEAP_HEAP_PARTS_H
#define PP_KINDS_HEAP_HEAP_PARTS_H

#include "profile/label_shares.h"
#include "kinds/heap/heap_buckets.h"

/* Takes the share of one set out of `rest`, which are the counts of the bucket to begin with. */
void pp_heap_part_take(const pp_heap_bucket *bucket, const pp_label_share *share,
                       pp_heap_counts *rest, pp_heap_counts *part);

#endif
