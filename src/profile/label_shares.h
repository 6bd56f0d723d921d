/* SPDX-License-Identifier: MIT
 *
 * label_shares.h: what each set of labels has of what was counted, taken out of the cells of a
 * sampler.
 *
 *   owner      24  =  {tenant=a} 11  +  {tenant=b} 6  +  without labels 7
 *
 * Cells are read before the totals of their owners, so that no more is found in cells than there
 * is.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: references to the sets, until release; the rest is in the arena.
 */
#ifndef PP_PROFILE_LABEL_SHARES_H
#define PP_PROFILE_LABEL_SHARES_H

#include "base/arena.h"
#include "store/label_cells.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_label_share {
    const void *owner;
    pprof_labels *labels;
    uint64_t value[PP_LABEL_VALUES];
} pp_label_share;

typedef struct pp_label_shares {
    pp_label_share *list; /* by owner, then by labels; no two have both in common */
    size_t count;
} pp_label_shares;

/* Reads all cells (NULL: there are none). 0 or -ENOMEM. */
int pp_label_shares_read(pp_label_cells *cells, pp_arena *arena, pp_label_shares *shares);
void pp_label_shares_release(const pp_label_shares *shares);

/* The `count` shares of one owner. */
const pp_label_share *pp_label_shares_of(const pp_label_shares *shares, const void *owner,
                                         size_t *count);

#endif
