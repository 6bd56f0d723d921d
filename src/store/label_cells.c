/* SPDX-License-Identifier: MIT
 *
 * label_cells.c: groups of cells (drawing in the header).
 *
 * Zone: SIGNAL; new and free HOOK.
 * Owns: the mapping of each table.
 */
#include "store/label_cells.h"

#include "base/compiler.h"
#include "base/memory.h"

#include <stdbool.h>

enum {
    GROUP = 8, /* hashes to a cache line */
    GROUPS = PP_LABEL_CELLS / GROUP,
    ATTEMPTS = 4,
    HELD_BYTES_MAX = 64 << 20 /* of sets, one time for each cell; one set may have 1 GiB */
};

static const uint32_t alone = UINT32_MAX; /* the value of `users` while a thread refills the cell */

typedef struct group {
    uint64_t hash[GROUP]; /* 0: the cell is empty. A hint while the cell has no user. */
    pp_label_cell cell[GROUP];
} __attribute__((aligned(64))) group;

struct pp_label_cells {
    group groups[GROUPS];
    uint64_t used;
    uint64_t held_bytes;
    uint64_t folded;
};

typedef struct spot {
    group *in;
    unsigned index;
} spot;

/* ---- tables ---- */

pp_label_cells *pp_label_cells_new(void)
{
    return pp_memory_map(sizeof(pp_label_cells));
}

void pp_label_cells_free(pp_label_cells *cells)
{
    if (cells == NULL) {
        return;
    }
    for (size_t i = 0; cells->used > 0 && i < GROUPS; i++) {
        for (unsigned k = 0; k < GROUP; k++) {
            if (cells->groups[i].hash[k] != 0) {
                pp_labels_unref(cells->groups[i].cell[k].labels);
            }
        }
    }
    pp_memory_unmap(cells, sizeof *cells);
}

pp_label_cells *pp_label_cells_at(pp_label_cells **place)
{
    pp_label_cells *cells = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (cells != NULL) {
        return cells;
    }
    pp_label_cells *made = pp_label_cells_new();
    if (made != NULL && !__atomic_compare_exchange_n(place, &cells, made, false, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_ACQUIRE)) {
        pp_label_cells_free(made);
        return cells;
    }
    return made;
}

/* ---- users ---- */

static bool begin_use(pp_label_cell *cell)
{
    uint32_t users = __atomic_load_n(&cell->users, __ATOMIC_RELAXED);
    while (users < alone - 1 && !__atomic_compare_exchange_n(&cell->users, &users, users + 1, true,
                                                             __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    }
    return users < alone - 1;
}

static bool begin_refill(pp_label_cell *cell)
{
    uint32_t none = 0;
    return __atomic_compare_exchange_n(&cell->users, &none, alone, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void end_refill(pp_label_cell *cell, uint32_t users)
{
    __atomic_store_n(&cell->users, users, __ATOMIC_RELEASE);
}

void pp_label_cell_give(pp_label_cell *cell)
{
    if (cell != NULL) {
        __atomic_sub_fetch(&cell->users, 1, __ATOMIC_RELEASE);
    }
}

/* ---- keys ---- */

static uint64_t hash_key(const void *owner, const pprof_labels *labels)
{
    uint64_t hash = ((uintptr_t)owner ^ pp_labels_hash(labels)) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    return hash != 0 ? hash : 1;
}

static group *group_of(pp_label_cells *cells, uint64_t half)
{
    return &cells->groups[half % GROUPS];
}

static uint64_t hash_at(const group *in, unsigned index)
{
    return __atomic_load_n(&in->hash[index], __ATOMIC_RELAXED);
}

static pp_label_cell *find_in(group *in, uint64_t hash, const void *owner,
                              const pprof_labels *labels)
{
    for (unsigned i = 0; i < GROUP; i++) {
        pp_label_cell *cell = &in->cell[i];
        if (hash_at(in, i) != hash || !begin_use(cell)) {
            continue;
        }
        if (cell->owner == owner && pp_labels_equal(cell->labels, labels)) {
            return cell;
        }
        pp_label_cell_give(cell);
    }
    return NULL;
}

/* ---- refilling ---- */

static void look_for_lowest(group *in, spot *lowest, uint64_t *score)
{
    for (unsigned i = 0; i<GROUP && * score> 0; i++) {
        pp_label_cell *cell = &in->cell[i];
        uint64_t its = __atomic_load_n(&cell->score, __ATOMIC_RELAXED);
        if (its < *score && __atomic_load_n(&cell->users, __ATOMIC_RELAXED) == 0) {
            *lowest = (spot){in, i};
            *score = its;
        }
    }
}

static unsigned count_empty(const group *in)
{
    unsigned count = 0;
    for (unsigned i = 0; i < GROUP; i++) {
        count += hash_at(in, i) == 0;
    }
    return count;
}

/* Begins to refill the cell with the lowest score of both groups. Returns an empty spot if it gets
 * none. */
static spot begin_refill_lowest(group *a, group *b)
{
    bool b_first = count_empty(b) > count_empty(a);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        spot lowest = {0};
        uint64_t score = UINT64_MAX;
        look_for_lowest(b_first ? b : a, &lowest, &score);
        look_for_lowest(b_first ? a : b, &lowest, &score);
        if (lowest.in == NULL || begin_refill(&lowest.in->cell[lowest.index])) {
            return lowest;
        }
    }
    return (spot){0};
}

static void count_folded(pp_label_cells *cells, uint64_t weight)
{
    __atomic_add_fetch(&cells->folded, weight, __ATOMIC_RELAXED);
}

static uint64_t bytes_of(const pprof_labels *labels)
{
    return sizeof *labels + labels->count * sizeof(pp_label) + labels->text_bytes;
}

/* From now on, profiles show what the cell held under the owner, without labels. */
static void empty(pp_label_cells *cells, spot at)
{
    pp_label_cell *cell = &at.in->cell[at.index];
    if (hash_at(at.in, at.index) != 0) {
        __atomic_store_n(&at.in->hash[at.index], 0, __ATOMIC_RELAXED);
        __atomic_sub_fetch(&cells->held_bytes, bytes_of(cell->labels), __ATOMIC_RELAXED);
        __atomic_sub_fetch(&cells->used, 1, __ATOMIC_RELAXED);
        count_folded(cells, cell->value[0]);
        pp_labels_unref(cell->labels);
        cell->labels = NULL;
    }
}

static void fill(pp_label_cells *cells, spot at, uint64_t hash, const void *owner,
                 pprof_labels *labels, uint64_t weight)
{
    pp_label_cell *cell = &at.in->cell[at.index];
    cell->owner = owner;
    cell->labels = pp_labels_ref(labels);
    __atomic_add_fetch(&cell->score, weight, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < PP_LABEL_VALUES; i++) {
        cell->value[i] = 0;
    }
    __atomic_add_fetch(&cells->used, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&at.in->hash[at.index], hash, __ATOMIC_RELAXED);
}

PP_COLD_PATH static pp_label_cell *make(pp_label_cells *cells, uint64_t hash, const void *owner,
                                        pprof_labels *labels, uint64_t weight)
{
    spot at = begin_refill_lowest(group_of(cells, hash), group_of(cells, hash >> 32));
    if (at.in == NULL) {
        count_folded(cells, weight);
        return NULL;
    }
    pp_label_cell *cell = &at.in->cell[at.index];
    uint64_t bytes = bytes_of(labels);
    empty(cells, at);
    if (__atomic_add_fetch(&cells->held_bytes, bytes, __ATOMIC_RELAXED) > HELD_BYTES_MAX) {
        __atomic_sub_fetch(&cells->held_bytes, bytes, __ATOMIC_RELAXED);
        count_folded(cells, weight);
        end_refill(cell, 0);
        return NULL;
    }
    fill(cells, at, hash, owner, labels, weight);
    end_refill(cell, 1);
    return cell;
}

pp_label_cell *pp_label_cell_take(pp_label_cells *cells, const void *owner, pprof_labels *labels,
                                  uint64_t weight)
{
    if (cells == NULL || pp_labels_is_empty(labels)) {
        return NULL;
    }
    uint64_t hash = hash_key(owner, labels);
    pp_label_cell *cell = find_in(group_of(cells, hash), hash, owner, labels);
    if (cell == NULL) {
        cell = find_in(group_of(cells, hash >> 32), hash, owner, labels);
    }
    if (cell == NULL) {
        return make(cells, hash, owner, labels, weight);
    }
    __atomic_add_fetch(&cell->score, weight, __ATOMIC_RELAXED);
    return cell;
}

/* ---- reading ---- */

void pp_label_cells_each(pp_label_cells *cells, pp_label_cell_visit *visit, void *context)
{
    for (size_t i = 0; i < PP_LABEL_CELLS && pp_label_cells_count(cells) > 0; i++) {
        group *in = &cells->groups[i / GROUP];
        pp_label_cell *cell = &in->cell[i % GROUP];
        if (hash_at(in, i % GROUP) != 0 && begin_use(cell)) {
            if (hash_at(in, i % GROUP) != 0) {
                visit(cell, context);
            }
            pp_label_cell_give(cell);
        }
    }
}

size_t pp_label_cells_count(const pp_label_cells *cells)
{
    return cells != NULL ? __atomic_load_n(&cells->used, __ATOMIC_RELAXED) : 0;
}

uint64_t pp_label_cells_folded(const pp_label_cells *cells)
{
    return cells != NULL ? __atomic_load_n(&cells->folded, __ATOMIC_RELAXED) : 0;
}
