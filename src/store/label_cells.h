/* SPDX-License-Identifier: MIT
 *
 * label_cells.h: which part of each count belongs to which set of labels.
 *
 * A sampler counts an event under its owner (a stack or a bucket), whatever the labels are. The
 * sampler counts an event of a labelled thread a second time, in a cell whose key is (owner,
 * contents of the set). So totals need no cells: the table may give a cell up at any time, and
 * shows what the cell held without labels from then on. This bounds the memory where a program
 * makes a set for each request: a table has PP_LABEL_CELLS cells.
 *
 *   group: [hash x 8] [cell x 8]      a key may be in either of two groups
 *   cell:  users, owner, labels (a reference), score, value[5]
 *
 * A key without a cell replaces the cell that has the lowest score of both groups among those
 * without users. The new key takes the score over: a key with a good share of all samples has a
 * cell before long and keeps it, however many sets come and go beside it [Metwally, Agrawal, El
 * Abbadi: Efficient Computation of Frequent and Top-k Elements in Data Streams, 2005].
 *
 * Zone: SIGNAL (new and free, which map memory: HOOK).
 * Locks: none. `users` keeps a cell from being refilled; the thread that refills a cell excludes
 *        all others, and no thread waits for it.
 * Owns: the mapping of each table; references to the sets.
 */
#ifndef PP_STORE_LABEL_CELLS_H
#define PP_STORE_LABEL_CELLS_H

#include "store/labels.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PP_LABEL_CELLS = 1 << 16, /* 5 MiB; the kernel provides pages as cells fill */
    PP_LABEL_VALUES = 5
};

typedef struct pp_label_cells pp_label_cells;

/* While a cell has a user, only its score and its values change. */
typedef struct pp_label_cell {
    uint32_t users;
    const void *owner;
    pprof_labels *labels;
    uint64_t score;
    uint64_t value[PP_LABEL_VALUES]; /* the owner defines their meaning */
} pp_label_cell;

/* Returns NULL if the kernel refuses memory. */
pp_label_cells *pp_label_cells_new(void);
/* Frees the table and its references to sets. The caller guarantees that no thread uses a cell, now
 * or later. */
void pp_label_cells_free(pp_label_cells *cells);

/* Returns the table at *place; maps one there if *place is NULL. The table stays for ever. */
pp_label_cells *pp_label_cells_at(pp_label_cells **place);

/*
 * Returns the cell of (owner, labels), a new one if the table has none. The cell stays in use until
 * pp_label_cell_give(). `weight` is the amount that the caller is about to count there. NULL if the
 * set is empty, `cells` is NULL, or no cell is free: then the event stays without labels.
 */
pp_label_cell *pp_label_cell_take(pp_label_cells *cells, const void *owner, pprof_labels *labels,
                                  uint64_t weight);
void pp_label_cell_give(pp_label_cell *cell);

/* One more user of a cell that is in use. Does nothing if `cell` is NULL. */
static inline void pp_label_cell_keep(pp_label_cell *cell)
{
    if (cell != NULL) {
        __atomic_add_fetch(&cell->users, 1, __ATOMIC_ACQ_REL);
    }
}

/* Does nothing if `cell` is NULL. */
static inline void pp_label_cell_add(pp_label_cell *cell, unsigned value, uint64_t more)
{
    if (cell != NULL) {
        __atomic_add_fetch(&cell->value[value], more, __ATOMIC_RELEASE);
    }
}

/* Calls `visit` for each cell, and keeps the cell in use during the call. */
typedef void pp_label_cell_visit(const pp_label_cell *cell, void *context);
void pp_label_cells_each(pp_label_cells *cells, pp_label_cell_visit *visit, void *context);

/* The number of cells with a key. Other threads may add more at any moment. */
size_t pp_label_cells_count(const pp_label_cells *cells);

/* The weight that profiles show without its labels, because cells were lacking. */
uint64_t pp_label_cells_folded(const pp_label_cells *cells);

#endif
