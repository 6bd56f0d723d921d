/* SPDX-License-Identifier: MIT
 *
 * heap_rows.c: turns buckets into rows, then scales, merges and sorts these.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "kinds/heap/heap_rows.h"

#include "base/exponential.h"
#include "base/key_sort.h"
#include "base/sort.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/heap_cycles.h"
#include "kinds/heap/heap_parts.h"
#include "kinds/heap/heap_peak.h"
#include "store/stack_ranks.h"

#include <errno.h>

enum { MANY = 256 /* rows, whose stacks are worth a rank */ };

/* How rows are sorted: by a number, and rows with equal numbers by a comparison. */
typedef struct order {
    const pp_heap_row *list;
    int first;
    uint64_t (*key)(const pp_heap_row *row, int first); /* the least comes first */
    int (*compare_ties)(const pp_heap_row *x, const pp_heap_row *y);
    bool is_by_stack; /* so ties are compared */
    bool has_ranks;
} order;

/* ---- estimates ---- */

static int64_t rounded(double value)
{
    return value < 9.2e18 ? (int64_t)(value + 0.5) : INT64_MAX;
}

/* The result is never 0 blocks with some bytes: a block represents at least itself. The unmapped
 * part of a block (`trimmed` bytes) counts for its size. `blocks` is the estimate from weights; 0 =
 * use the mean size. */
static void scale(uint64_t rate, uint64_t trimmed, double blocks, int64_t *objects, int64_t *bytes)
{
    if (*objects > 0) {
        double size = ((double)*bytes + (double)trimmed) / (double)*objects;
        double each = pp_blocks_per_sample(size, rate);
        *objects = rounded(blocks > 0 ? blocks : (double)*objects * each);
        *bytes = rounded((double)*bytes * each);
    }
}

void pp_heap_row_scale(pp_heap_row *r)
{
    scale(r->rate, 0, r->alloc_blocks, &r->value[PP_HEAP_ALLOC_OBJECTS],
          &r->value[PP_HEAP_ALLOC_SPACE]);
    scale(r->rate, r->trimmed_bytes, r->inuse_blocks, &r->value[PP_HEAP_INUSE_OBJECTS],
          &r->value[PP_HEAP_INUSE_SPACE]);
}

/* ---- reading ---- */

static void fill_row(pp_heap_row *r, const pp_heap_bucket *bucket, const pp_heap_counts *counts)
{
    *r = (pp_heap_row){.stack = bucket->stack,
                       .size = bucket->size,
                       .rate = bucket->rate,
                       .alloc_objects = counts->alloc_objects,
                       .alloc_bytes = counts->alloc_bytes,
                       .trimmed_bytes = counts->trimmed_bytes};
    double of_weight = bucket->least_blocks / (double)(UINT64_C(1) << PP_HEAP_WEIGHT_BITS);
    r->alloc_blocks = (double)counts->alloc_weight * of_weight;
    r->inuse_blocks = (double)(counts->alloc_weight - counts->free_weight) * of_weight;
    r->value[PP_HEAP_ALLOC_OBJECTS] = (int64_t)counts->alloc_objects;
    r->value[PP_HEAP_ALLOC_SPACE] = (int64_t)counts->alloc_bytes;
    r->value[PP_HEAP_INUSE_OBJECTS] = (int64_t)(counts->alloc_objects - counts->free_objects);
    r->value[PP_HEAP_INUSE_SPACE] =
        (int64_t)(counts->alloc_bytes - counts->free_bytes - counts->trimmed_bytes);
}

/* Buckets of a stack and a size differ in their rate, or in what heap they are of. */
static bool is_only_one(const pp_heap_rows *rows, const pp_heap_bucket *bucket)
{
    return bucket->rate == rows->list[0].rate && !bucket->is_class && !bucket->is_collected;
}

static void add_row(pp_heap_rows *rows, const pp_heap_bucket *bucket, const pprof_labels *labels,
                    const pp_heap_counts *counts)
{
    if (counts->alloc_objects > 0) {
        fill_row(&rows->list[rows->count], bucket, counts);
        rows->list[rows->count++].labels = labels;
        rows->has_twins |= !is_only_one(rows, bucket);
    }
}

static void read_list(const pp_heap_bucket *b, pp_heap_rows *rows)
{
    for (; b != NULL; b = b->next) {
        pp_heap_counts rest;
        size_t parts = 0;
        const pp_label_share *share = pp_label_shares_of(&rows->shares, b, &parts);
        pp_heap_bucket_counts(b, &rest);
        for (size_t i = 0; i < parts; i++) {
            pp_heap_counts part;
            pp_heap_part_take(b, &share[i], &rest, &part);
            add_row(rows, b, share[i].labels, &part);
        }
        add_row(rows, b, NULL, &rest);
    }
}

static int read_buckets(pp_arena *arena, pp_heap_rows *rows)
{
    pp_heap_cycles_publish_for_reader();
    const pp_heap_bucket *hooked = pp_heap_buckets_newest();
    const pp_heap_bucket *described = pp_heap_buckets_newest_collected();
    size_t capacity = pp_heap_buckets_count() + rows->shares.count;
    rows->list = pp_arena_array_filled(arena, capacity + 1, sizeof *rows->list);
    if (rows->list == NULL) {
        return -ENOMEM;
    }
    pp_heap_cycles_ticket ticket = {0};
    do {
        rows->count = 0;
        rows->has_twins = false;
        pp_heap_cycles_read_begin(&ticket);
        read_list(described, rows);
    } while (pp_heap_cycles_read_again(&ticket));
    read_list(hooked, rows);
    return 0;
}

static int read_peak(pp_arena *arena, pp_heap_rows *rows)
{
    pp_heap_peak_copy copy;
    pp_heap_peak_take(&copy);
    rows->list = pp_arena_array_filled(arena, copy.count + 1, sizeof *rows->list);
    for (size_t i = 0; rows->list != NULL && i < copy.count; i++) {
        add_row(rows, copy.entries[i].bucket, NULL, &copy.entries[i].counts);
    }
    pp_heap_peak_give(&copy);
    return rows->list != NULL ? 0 : -ENOMEM;
}

/* ---- order ---- */

static int compare_sizes_and_labels(const pp_heap_row *x, const pp_heap_row *y)
{
    int by_size = (x->size > y->size) - (x->size < y->size);
    return by_size != 0 ? by_size : pp_labels_compare(x->labels, y->labels);
}

static int compare_places(const pp_heap_row *x, const pp_heap_row *y)
{
    int by_stack = pp_trie_stack_compare(x->stack, y->stack);
    return by_stack != 0 ? by_stack : compare_sizes_and_labels(x, y);
}

/* Equal stacks are one, so where it is in memory distinguishes it. */
static bool is_one_place(const pp_heap_row *x, const pp_heap_row *y)
{
    return x->stack == y->stack && compare_sizes_and_labels(x, y) == 0;
}

/* For an order in which the rows of a place are neighbours. */
static uint64_t identity_key(const pp_heap_row *row, int first)
{
    (void)first;
    return (uintptr_t)row->stack;
}

/* The largest value comes first. */
static uint64_t value_key(const pp_heap_row *row, int first)
{
    return (uint64_t)INT64_MAX - (uint64_t)row->value[first];
}

static int compare_places_and_rates(const pp_heap_row *x, const pp_heap_row *y)
{
    int places = compare_places(x, y);
    return places != 0 ? places : (x->rate > y->rate) - (x->rate < y->rate);
}

static int compare_ties(const void *a, const void *b, void *context)
{
    const order *o = context;
    const pp_keyed *x = a;
    const pp_keyed *y = b;
    return o->compare_ties(&o->list[x->index], &o->list[y->index]);
}

/* Returns how many of the items have none. */
static size_t read_ranks(pp_keyed *items, size_t count, const order *o)
{
    size_t without = 0;
    for (size_t i = 0; i < count; i++) {
        items[i].key = o->list[items[i].index].stack->rank;
        without += items[i].key == 0;
    }
    return without;
}

static bool add_ranks(const pp_keyed *items, size_t count, size_t without, const order *o,
                      pp_arena *arena)
{
    pp_ranked_stack *stacks = pp_arena_array(arena, without, sizeof *stacks);
    size_t found = 0;
    for (size_t i = 0; stacks != NULL && i < count; i++) {
        if (items[i].key == 0) {
            stacks[found++].stack = o->list[items[i].index].stack;
        }
    }
    return stacks != NULL && pp_stack_ranks_add(stacks, found);
}

/* Makes the ranks of stacks the keys. False: some have none. */
static bool rank_stacks(pp_keyed *items, size_t count, const order *o, pp_arena *arena)
{
    if (!pp_stack_ranks_begin()) {
        return false;
    }
    size_t without = read_ranks(items, count, o);
    if (without > 0 && add_ranks(items, count, without, o, arena)) {
        without = read_ranks(items, count, o);
    }
    pp_stack_ranks_end();
    return without == 0;
}

/* Items with equal keys are in the order of their stacks then. */
static void sort_stacks(pp_keyed *items, pp_keyed *spare, size_t count, order *o, pp_arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        items[i] = (pp_keyed){.index = i};
    }
    o->has_ranks = o->is_by_stack && count >= MANY && rank_stacks(items, count, o, arena);
    if (o->has_ranks) {
        pp_key_sort(items, spare, count);
    }
}

static void sort_keys(pp_keyed *items, pp_keyed *spare, size_t count, const order *o)
{
    for (size_t i = 0; i < count; i++) {
        items[i].key = o->key(&o->list[items[i].index], o->first);
    }
    pp_key_sort(items, spare, count);
}

static bool is_tie(const pp_keyed *x, const pp_keyed *y, const order *o)
{
    return x->key == y->key &&
           (!o->has_ranks || o->list[x->index].stack == o->list[y->index].stack);
}

/* Sorts the items that are tied, which are neighbours. */
static void sort_ties(pp_keyed *items, size_t count, order *o)
{
    size_t last = 0;
    for (size_t first = 0; first < count; first = last) {
        last = first + 1;
        while (last < count && is_tie(&items[first], &items[last], o)) {
            last++;
        }
        pp_sort(items + first, last - first, sizeof *items, compare_ties, o);
    }
}

/* Moves each row to the place of the item that has its index. Changes the items. */
static void move_rows(pp_heap_row *rows, pp_keyed *items, size_t count)
{
    for (size_t first = 0; first < count; first++) {
        const pp_heap_row row = rows[first];
        size_t to = first;
        for (size_t from = items[to].index; from != first; from = items[to].index) {
            rows[to] = rows[from];
            items[to].index = to;
            to = from;
        }
        rows[to] = row;
        items[to].index = to;
    }
}

static int sort_rows(pp_heap_rows *rows, order *o, pp_arena *arena)
{
    pp_keyed *items = pp_arena_array_filled(arena, rows->count + 1, sizeof *items);
    pp_keyed *spare = pp_arena_array_filled(arena, rows->count + 1, sizeof *spare);
    if (items == NULL || spare == NULL) {
        return -ENOMEM;
    }
    o->list = rows->list;
    sort_stacks(items, spare, rows->count, o, arena);
    sort_keys(items, spare, rows->count, o);
    sort_ties(items, rows->count, o);
    move_rows(rows->list, items, rows->count);
    return 0;
}

/* Merges rows of one place, which are neighbours; their values are estimates. */
static void merge_twins(pp_heap_rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        pp_heap_row *last = kept > 0 ? &rows->list[kept - 1] : NULL;
        if (last == NULL || !is_one_place(last, &rows->list[i])) {
            rows->list[kept++] = rows->list[i];
            continue;
        }
        last->alloc_objects += rows->list[i].alloc_objects;
        last->alloc_bytes += rows->list[i].alloc_bytes;
        last->trimmed_bytes += rows->list[i].trimmed_bytes;
        for (int k = 0; k < PP_HEAP_VALUES; k++) {
            last->value[k] += rows->list[i].value[k];
        }
    }
    rows->count = kept;
}

/* ---- rates ---- */

/* Whether one rate, which is stored in rows->rate, explains all samples. */
static bool one_rate_is_enough(pp_heap_rows *rows)
{
    pp_heap_facts facts;
    pp_heap_facts_read(&facts);
    rows->rate = (uint64_t)pp_heap_rate();
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].rate != rows->list[0].rate) {
            return false;
        }
    }
    if (rows->count > 0) {
        rows->rate = rows->list[0].rate;
    }
    return facts.lost_samples == 0;
}

static int scale_rows(pp_heap_rows *rows, pp_arena *arena)
{
    order by_identity = {.key = identity_key, .compare_ties = compare_sizes_and_labels};
    for (size_t i = 0; i < rows->count; i++) {
        pp_heap_row_scale(&rows->list[i]);
    }
    int error = rows->has_twins ? sort_rows(rows, &by_identity, arena) : 0;
    if (error == 0 && rows->has_twins) {
        merge_twins(rows);
    }
    return error;
}

static int read_rows(pp_heap_moment moment, pp_heap_scaling scaling, int first, pp_arena *arena,
                     pp_heap_rows *rows)
{
    int error = moment == PP_HEAP_AT_PEAK ? read_peak(arena, rows) : read_buckets(arena, rows);
    if (error != 0) {
        return error;
    }
    order by_value = {.first = first,
                      .key = value_key,
                      .compare_ties = compare_places_and_rates,
                      .is_by_stack = true};
    bool enough = one_rate_is_enough(rows);
    rows->scaled = scaling == PP_HEAP_SCALED || (scaling == PP_HEAP_EITHER && !enough);
    if (rows->scaled) {
        error = scale_rows(rows, arena);
    }
    return error == 0 ? sort_rows(rows, &by_value, arena) : error;
}

int pp_heap_rows_read(pp_heap_moment moment, pp_heap_scaling scaling, int first, pp_arena *arena,
                      pp_heap_rows *rows)
{
    *rows = (pp_heap_rows){0};
    bool by_labels = moment == PP_HEAP_NOW_BY_LABELS;
    int error =
        pp_label_shares_read(by_labels ? pp_heap_buckets_labels() : NULL, arena, &rows->shares);
    if (error == 0) {
        error = read_rows(moment, scaling, first, arena, rows);
    }
    if (error != 0) {
        pp_heap_rows_release(rows);
    }
    return error;
}

void pp_heap_rows_release(const pp_heap_rows *rows)
{
    pp_label_shares_release(&rows->shares);
}
