/* SPDX-License-Identifier: MIT
 *
 * label_shares.h: reads the share of each set of labels in a count from the cells of a sampler.
 *
 *   owner      24  =  {tenant=a} 11  +  {tenant=b} 6  +  without labels 7
 *
 * A builder reads cells before the totals of their owners, so that the cells never exceed the
 * totals.
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
    pp_label_share *list; /* sorted by owner, then by labels; no two shares agree in both */
    size_t count;
} pp_label_shares;

/* Reads all cells (NULL: there are none). 0 or -ENOMEM. */
int pp_label_shares_read(pp_label_cells *cells, pp_arena *arena, pp_label_shares *shares);
void pp_label_shares_release(const pp_label_shares *shares);

/* Returns the `count` shares of one owner. */
const pp_label_share *pp_label_shares_of(const pp_label_shares *shares, const void *owner,
                                         size_t *count);

#endif
