/* SPDX-License-Identifier: MIT
 *
 * label_cells.h: which part of what was counted fell to which set of labels.
 *
 * A sampler counts under its owner (a stack, a bucket) whatever the labels are. What a labelled
 * thread brings is counted a second time, in a cell of (owner, what the set says). So totals need
 * no cells: a cell may be given up at any time, and what it held is shown without labels from then
 * on. That is how memory stays bounded where a program makes a set for each request: there are
 * PP_LABEL_CELLS.
 *
 *   group: [hash x 8] [cell x 8]      a key may be in either of two groups
 *   cell:  users, owner, labels (a reference), score, value[5]
 *
 * Given up is the cell with the lowest score of both groups that nobody uses, and the newcomer
 * takes the score over: whoever brings a good share of all samples is there before long and stays,
 * however many sets come and go beside it [Metwally, Agrawal, El Abbadi: Efficient Computation of
 * Frequent and Top-k Elements in Data Streams, 2005].
 *
 * Zone: SIGNAL (new and free, which map memory: HOOK).
 * Locks: none. `users` keeps a cell from being refilled; who refills one has it alone, and nobody waits
 *        for that.
 * Owns: the mapping of each table; references to the sets.
 */
#ifndef PP_STORE_LABEL_CELLS_H
#define PP_STORE_LABEL_CELLS_H

#include "store/labels.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PP_LABEL_CELLS = 1 << 16, /* 5 MiB, used as they fill */
    PP_LABEL_VALUES = 5
};

typedef struct pp_label_cells pp_label_cells;

/* While in use, all but the values stay as they are. */
typedef struct pp_label_cell {
    uint32_t users;
    const void *owner;
    pprof_labels *labels;
    uint64_t score;
    uint64_t value[PP_LABEL_VALUES]; /* the owner knows of what */
} pp_label_cell;

/* NULL when the kernel refuses memory. */
pp_label_cells *pp_label_cells_new(void);
/* Gives the references back. Nobody uses a cell any more, or ever will. */
void pp_label_cells_free(pp_label_cells *cells);

/* Makes sure that there is a table at *place, for ever. */
pp_label_cells *pp_label_cells_at(pp_label_cells **place);

/*
 * The cell of that key, a new one if need be, in use until it is given back. `weight` is how much
 * the caller is about to count there. NULL if there are no labels, no table (NULL), or no cell to
 * be had: it stays without labels then.
 */
pp_label_cell *pp_label_cell_take(pp_label_cells *cells, const void *owner, pprof_labels *labels,
                                  uint64_t weight);
void pp_label_cell_give(pp_label_cell *cell);

/* NULL is nothing. */
static inline void pp_label_cell_add(pp_label_cell *cell, unsigned value, uint64_t more)
{
    if (cell != NULL) {
        __atomic_add_fetch(&cell->value[value], more, __ATOMIC_RELEASE);
    }
}

/* Calls back for each cell, in use for that long. */
typedef void pp_label_cell_visit(const pp_label_cell *cell, void *context);
void pp_label_cells_each(pp_label_cells *cells, pp_label_cell_visit *visit, void *context);

/* How many there are (they may be more a moment later). */
size_t pp_label_cells_count(const pp_label_cells *cells);

/* The weight that is shown without its labels, for want of cells. */
uint64_t pp_label_cells_folded(const pp_label_cells *cells);

#endif
