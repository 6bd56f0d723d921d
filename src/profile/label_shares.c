/* SPDX-License-Identifier: MIT
 *
 * label_shares.c: makes sorted shares of the cells, one for each owner and set.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the same as the header.
 * Tested by: unit.heap_rows, unit.label_cells
 */
#include "profile/label_shares.h"

#include "base/sort.h"

#include <errno.h>

enum { SLACK = 1024 /* cells that threads add during the pass */ };

typedef struct reader {
    pp_label_shares *to;
    size_t capacity;
} reader;

static void read_cell(const pp_label_cell *cell, void *context)
{
    reader *r = context;
    if (r->to->count == r->capacity) {
        return;
    }
    pp_label_share *share = &r->to->list[r->to->count++];
    share->owner = cell->owner;
    share->labels = pp_labels_ref(cell->labels);
    for (unsigned i = PP_LABEL_VALUES; i-- > 0;) {
        share->value[i] = __atomic_load_n(&cell->value[i], __ATOMIC_ACQUIRE);
    }
}

static int compare(const void *a, const void *b, void *context)
{
    const pp_label_share *x = a;
    const pp_label_share *y = b;
    (void)context;
    if (x->owner != y->owner) {
        return (uintptr_t)x->owner < (uintptr_t)y->owner ? -1 : 1;
    }
    return pp_labels_compare(x->labels, y->labels);
}

/* Two threads that count the first event of a key at the same moment make two cells. */
static void merge(pp_label_shares *shares)
{
    size_t kept = 0;
    for (size_t i = 0; i < shares->count; i++) {
        pp_label_share *last = kept > 0 ? &shares->list[kept - 1] : NULL;
        if (last == NULL || compare(last, &shares->list[i], NULL) != 0) {
            shares->list[kept++] = shares->list[i];
            continue;
        }
        for (unsigned k = 0; k < PP_LABEL_VALUES; k++) {
            last->value[k] += shares->list[i].value[k];
        }
        pp_labels_unref(shares->list[i].labels);
    }
    shares->count = kept;
}

int pp_label_shares_read(pp_label_cells *cells, pp_arena *arena, pp_label_shares *shares)
{
    *shares = (pp_label_shares){0};
    size_t count = pp_label_cells_count(cells);
    if (count == 0) {
        return 0;
    }
    reader r = {shares, count + SLACK};
    shares->list = pp_arena_array(arena, r.capacity, sizeof *shares->list);
    if (shares->list == NULL) {
        return -ENOMEM;
    }
    pp_label_cells_each(cells, read_cell, &r);
    pp_sort(shares->list, shares->count, sizeof *shares->list, compare, NULL);
    merge(shares);
    return 0;
}

void pp_label_shares_release(const pp_label_shares *shares)
{
    for (size_t i = 0; i < shares->count; i++) {
        pp_labels_unref(shares->list[i].labels);
    }
}

/* The index of the first share whose owner is at or above `owner`. */
static size_t first_from(const pp_label_shares *shares, uintptr_t owner)
{
    size_t low = 0;
    size_t high = shares->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)shares->list[middle].owner < owner) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const pp_label_share *pp_label_shares_of(const pp_label_shares *shares, const void *owner,
                                         size_t *count)
{
    *count = 0;
    if (shares->count == 0) {
        return NULL;
    }
    size_t first = first_from(shares, (uintptr_t)owner);
    while (first + *count < shares->count && shares->list[first + *count].owner == owner) {
        ++*count;
    }
    return &shares->list[first];
}
