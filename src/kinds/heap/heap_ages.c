/* SPDX-License-Identifier: MIT
 *
 * heap_ages.c: reads the live table, and counts blocks of one row and one age.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.heap_ages
 */
#include "kinds/heap/heap_ages.h"

#include "base/sort.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/live_table.h"
#include "sys/clock.h"

#include <errno.h>

enum { SLACK = 1024 /* blocks that are allocated meanwhile */ };

static bool wanted;

void pp_heap_ages_want(void)
{
    pp_live_table_keep_births();
    __atomic_store_n(&wanted, true, __ATOMIC_RELAXED);
}

bool pp_heap_ages_are_wanted(void)
{
    return __atomic_load_n(&wanted, __ATOMIC_RELAXED);
}

int64_t pp_heap_age_class(uint64_t now_ns, uint64_t birth_ns)
{
    if (birth_ns == 0) {
        return PP_HEAP_AGE_UNKNOWN;
    }
    uint64_t seconds = (now_ns > birth_ns ? now_ns - birth_ns : 0) / PP_NS_PER_S;
    return seconds == 0 ? 0 : INT64_C(1) << (63 - __builtin_clzll(seconds));
}

typedef struct reader {
    pp_heap_ages *to;
    size_t capacity;
    uint64_t now_ns;
} reader;

static void read_entry(const pp_live_entry *entry, void *context)
{
    reader *r = context;
    if (r->to->count == r->capacity || !pp_heap_is_block(entry->value)) {
        return;
    }
    const pp_heap_bucket *bucket = pp_heap_block_bucket(entry->value);
    r->to->list[r->to->count++] =
        (pp_heap_age){.stack = bucket->stack,
                      .size = bucket->size,
                      .labels = pp_heap_block_labels(entry->value),
                      .age_s = pp_heap_age_class(r->now_ns, entry->birth_ns),
                      .count = 1};
}

static int order(uintptr_t x, uintptr_t y)
{
    return (x > y) - (x < y);
}

static int compare_rows(const pp_heap_age *x, const pp_heap_age *y)
{
    int by_stack = order((uintptr_t)x->stack, (uintptr_t)y->stack);
    int by_size = order(x->size, y->size);
    return by_stack != 0  ? by_stack
           : by_size != 0 ? by_size
                          : order((uintptr_t)x->labels, (uintptr_t)y->labels);
}

static int compare(const void *a, const void *b, void *unused)
{
    (void)unused;
    const pp_heap_age *x = a;
    const pp_heap_age *y = b;
    int by_row = compare_rows(x, y);
    return by_row != 0 ? by_row : (x->age_s > y->age_s) - (x->age_s < y->age_s);
}

int pp_heap_ages_read(pp_arena *arena, pp_heap_ages *ages)
{
    reader r = {.to = ages,
                .capacity = pp_live_table_count() + SLACK,
                .now_ns = pp_clock_ns(CLOCK_MONOTONIC)};
    *ages = (pp_heap_ages){.list = pp_arena_array(arena, r.capacity, sizeof *ages->list)};
    if (ages->list == NULL) {
        return -ENOMEM;
    }
    pp_live_table_each(read_entry, &r);
    pp_sort(ages->list, ages->count, sizeof *ages->list, compare, NULL);
    size_t kept = 0;
    for (size_t i = 0; i < ages->count; i++) {
        if (kept > 0 && compare(&ages->list[kept - 1], &ages->list[i], NULL) == 0) {
            ages->list[kept - 1].count++;
        } else {
            ages->list[kept++] = ages->list[i];
        }
    }
    ages->count = kept;
    return 0;
}

const pp_heap_age *pp_heap_ages_of(const pp_heap_ages *ages, const pp_heap_row *row, size_t *count)
{
    const pp_heap_age wish = {.stack = row->stack, .size = row->size, .labels = row->labels};
    size_t low = 0;
    size_t high = ages->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_rows(&ages->list[middle], &wish) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (*count = 0;
         low + *count < ages->count && compare_rows(&ages->list[low + *count], &wish) == 0;) {
        (*count)++;
    }
    return &ages->list[low];
}
