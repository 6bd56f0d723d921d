/* SPDX-License-Identifier: MIT
 *
 * test_heap_rows.c: rows from made-up buckets: raw or scaled, their order, one rate and several.
 *
 * Buckets stay for ever: each test adds to what the ones before it left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/exponential.h"
#include "base/stack_hash.h"
#include "pprof.h"
#include "kinds/heap/heap_rows.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_buckets.h"
#include "store/stack_trie.h"

#include <math.h>
#include <stdlib.h>

enum { RATE = 1000, OTHER_RATE = 50 };

static pp_arena arena = PP_ARENA_INIT;

/* `allocated` blocks of a site, `freed` of them freed. */
static void add(uintptr_t site, uint64_t size, uint64_t rate, unsigned allocated, unsigned freed)
{
    uintptr_t pcs[3] = {0x10 + site, 0x20 + site, 0x30};
    pp_heap_block block = pp_heap_block_find(pcs, 3, pp_stack_hash(pcs, 3), size, rate, NULL);
    assert_int_not_equal(block, 0);
    for (unsigned i = 0; i < allocated; i++)
        pp_heap_block_allocated(block);
    for (unsigned i = 0; i < freed; i++)
        pp_heap_block_freed(block);
}

/* The same under labels, {who=`value`}. */
static void add_labelled(uintptr_t site, uint64_t size, const char *value, unsigned allocated,
                         unsigned freed)
{
    int error = 0;
    const char *const pair[] = {"who", value};
    pprof_labels *labels = pp_labels_new(NULL, pair, 1, &error);
    uintptr_t pcs[3] = {0x10 + site, 0x20 + site, 0x30};
    assert_non_null(labels);
    for (unsigned i = 0; i < allocated; i++) {
        pp_heap_block block = pp_heap_block_find(pcs, 3, pp_stack_hash(pcs, 3), size, 1, labels);
        assert_int_equal(pp_heap_block_size(block), size);
        pp_heap_block_allocated(block);
        if (i < freed) {
            pp_heap_block_freed(block);
        }
    }
    pp_labels_unref(labels);
}

static pp_heap_rows read_rows(pp_heap_scaling scaling, int first)
{
    pp_heap_rows rows;
    pp_arena_release(&arena);
    assert_int_equal(pp_heap_rows_read(PP_HEAP_NOW, scaling, first, &arena, &rows), 0);
    return rows;
}

static int finish(void **state)
{
    (void)state;
    pp_arena_release(&arena);
    return 0;
}

static void nothing_is_no_rows(void **state)
{
    (void)state;
    pp_heap_set_rate(4321);
    pp_heap_rows rows = read_rows(PP_HEAP_EITHER, PP_HEAP_INUSE_SPACE);
    pp_heap_set_rate(0);
    assert_int_equal(rows.count, 0);
    assert_false(rows.scaled);
    assert_int_equal(rows.rate, 4321);
    size_t n = 5;
    assert_true(pprof_mem_profile(NULL, 0, &n, true));
    assert_int_equal(n, 0);
}

static void raw_rows_are_the_samples(void **state)
{
    (void)state;
    add(1, 100, RATE, 5, 2);
    add(2, 7, RATE, 4, 4);
    add(3, 1000, RATE, 1, 0);
    pp_heap_rows rows = read_rows(PP_HEAP_EITHER, PP_HEAP_INUSE_SPACE);
    assert_false(rows.scaled);
    assert_int_equal(rows.rate, RATE); /* of the samples, whatever it is now */
    assert_int_equal(rows.count, 3);
    const int64_t expected[3][PP_HEAP_VALUES] = {
        {1, 1000, 1, 1000}, {5, 500, 3, 300}, {4, 28, 0, 0}};
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(rows.list[i].value, expected[i], sizeof expected[i]);
}

static void scaled_rows_are_estimates(void **state)
{
    (void)state;
    pp_heap_rows rows = read_rows(PP_HEAP_SCALED, PP_HEAP_ALLOC_OBJECTS);
    assert_true(rows.scaled);
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.list[0].size, 7);
    double each = pp_blocks_per_sample(7, RATE); /* about 143 */
    assert_int_equal(rows.list[0].value[PP_HEAP_ALLOC_OBJECTS], (int64_t)(4 * each + 0.5));
    assert_int_equal(rows.list[0].value[PP_HEAP_ALLOC_SPACE], (int64_t)(28 * each + 0.5));
    assert_int_equal(rows.list[0].value[PP_HEAP_INUSE_OBJECTS], 0);
    assert_int_equal(rows.list[0].value[PP_HEAP_INUSE_SPACE], 0);
    each = pp_blocks_per_sample(100, RATE); /* about 10.5 */
    assert_int_equal(rows.list[1].value[PP_HEAP_INUSE_OBJECTS], (int64_t)(3 * each + 0.5));
}

static void ties_are_ordered_by_stack_then_size(void **state)
{
    (void)state;
    add(9, 40, RATE, 3, 3);
    add(6, 50, RATE, 3, 3);
    add(6, 20, RATE, 3, 3);
    add(6, 30, RATE, 3, 3);
    pp_heap_rows rows = read_rows(PP_HEAP_RAW, PP_HEAP_INUSE_SPACE);
    assert_int_equal(rows.count, 7);
    const uint64_t sizes[] = {7, 20, 30, 50, 40}; /* sites 2, 6, 6, 6, 9: nothing is in use */
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(rows.list[2 + i].size, sizes[i]);
}

static bool is_before(const pp_heap_row *x, const pp_heap_row *y)
{
    int by_stack = pp_trie_stack_compare(x->stack, y->stack);
    return by_stack < 0 || (by_stack == 0 && x->size < y->size);
}

/* So many that the stacks get ranks, some of them later than others. */
static void many_ties_are_ordered_by_stack_then_size(void **state)
{
    (void)state;
    enum { FIRST = 10000, SITES = 1000, STEP = 389, ROUNDS = 4 };
    for (uintptr_t round = 0; round < ROUNDS; round++) {
        for (uintptr_t i = round * SITES / ROUNDS; i < (round + 1) * SITES / ROUNDS; i++) {
            uintptr_t site = FIRST + i * STEP % SITES;
            add(site, 90 + site % 3 * 10, RATE, 1, 1);
            add(site, 80 + site % 2 * 10, RATE, 1, 1);
        }
        pp_heap_rows rows = read_rows(PP_HEAP_SCALED, PP_HEAP_INUSE_SPACE);
        size_t found = 0;
        for (size_t i = 1; i < rows.count; i++) {
            const pp_heap_row *row = &rows.list[i];
            bool is_tied = row[-1].value[PP_HEAP_INUSE_SPACE] == row->value[PP_HEAP_INUSE_SPACE];
            assert_true(!is_tied || is_before(&row[-1], row));
            found += is_tied;
        }
        assert_true(found >= (round + 1) * SITES / ROUNDS);
    }
}

/* The estimates of a site that was put into classes: those of its samples, one by one. */
static void classes_stand_for_what_their_blocks_do(void **state)
{
    (void)state;
    enum { SITE = 30, SIZES = 5000, TIMES = 20 };
    double allocated = 0;
    double in_use = 0;
    for (uint64_t size = 1; size <= SIZES; size++) {
        unsigned freed = size % 3 == 0 ? TIMES : 0;
        add(SITE, size, RATE, TIMES, freed);
        allocated += TIMES * pp_blocks_per_sample((double)size, RATE);
        in_use += (TIMES - freed) * pp_blocks_per_sample((double)size, RATE);
    }
    pp_heap_rows rows = read_rows(PP_HEAP_SCALED, PP_HEAP_ALLOC_OBJECTS);
    double found_allocated = 0;
    double found_in_use = 0;
    size_t of_site = 0;
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.list[i].stack->pc[0] == 0x10 + SITE) {
            found_allocated += (double)rows.list[i].value[PP_HEAP_ALLOC_OBJECTS];
            found_in_use += (double)rows.list[i].value[PP_HEAP_INUSE_OBJECTS];
            of_site++;
        }
    }
    assert_in_range(of_site, 64, 200);
    double rounding = (double)of_site / 2;
    assert_true(fabs(found_allocated - allocated) <= rounding + allocated / 1e6);
    assert_true(fabs(found_in_use - in_use) <= rounding + in_use / 1e6);
    for (uint64_t size = 1; size <= SIZES; size++)
        add(SITE, size, RATE, 0, size % 3 == 0 ? 0 : TIMES);
    rows = read_rows(PP_HEAP_SCALED, PP_HEAP_ALLOC_OBJECTS);
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.list[i].stack->pc[0] == 0x10 + SITE)
            assert_int_equal(rows.list[i].value[PP_HEAP_INUSE_OBJECTS], 0);
    }
}

static void sites_without_samples_are_left_out(void **state)
{
    (void)state;
    add(20, 12345, RATE, 0, 0);
    pp_heap_rows rows = read_rows(PP_HEAP_RAW, PP_HEAP_INUSE_SPACE);
    assert_int_equal(rows.count, 7);
}

static void fill_records(pprof_mem_record *records, size_t count)
{
    memset(records, 0x5a, count * sizeof *records);
}

static void records_are_all_or_nothing(void **state)
{
    (void)state;
    static pprof_mem_record records[8];
    static pprof_mem_record untouched[8];
    size_t n = 0;
    fill_records(records, 8);
    fill_records(untouched, 8);
    assert_false(pprof_mem_profile(NULL, 0, &n, true));
    assert_int_equal(n, 7);
    assert_false(pprof_mem_profile(records, 6, &n, true));
    assert_int_equal(n, 7);
    assert_memory_equal(records, untouched, sizeof records);
    assert_true(pprof_mem_profile(records, 7, &n, true));
    assert_int_equal(n, 7);
    assert_memory_equal(&records[7], &untouched[7], sizeof records[7]);

    assert_int_equal(records[1].alloc_objects, 5);
    assert_int_equal(records[1].alloc_bytes, 500);
    assert_int_equal(records[1].free_objects, 2);
    assert_int_equal(records[1].free_bytes, 200);
    assert_int_equal(pprof_mem_record_inuse_objects(&records[1]), 3);
    assert_int_equal(pprof_mem_record_inuse_bytes(&records[1]), 300);
    assert_int_equal(records[1].stack.depth, 3);
    assert_int_equal(records[1].stack.pc[0], 0x11);
    assert_int_equal(records[1].stack.pc[2], 0x30);
    assert_int_equal(records[1].stack.pc[3], 0);
    assert_int_equal(records[1].stack.pc[PPROF_MAX_STACK - 1], 0);
}

static void records_without_what_was_freed(void **state)
{
    (void)state;
    static pprof_mem_record records[8];
    size_t n = 0;
    assert_false(pprof_mem_profile(records, 1, &n, false));
    assert_int_equal(n, 2);
    assert_true(pprof_mem_profile(records, 8, &n, false));
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++)
        assert_true(pprof_mem_record_inuse_bytes(&records[i]) > 0);
    pprof_profile *heap = pprof_lookup("heap");
    assert_int_equal(pprof_profile_count(heap), 7);
    assert_int_equal(pprof_profile_count(pprof_lookup("allocs")), 7);
    assert_int_equal(pprof_profile_count(NULL), 0);
}

static void several_rates_are_scaled_and_merged(void **state)
{
    (void)state;
    add(1, 100, OTHER_RATE, 10, 0);
    pp_heap_rows raw = read_rows(PP_HEAP_RAW, PP_HEAP_INUSE_SPACE);
    assert_int_equal(raw.count, 8);
    pp_heap_rows rows = read_rows(PP_HEAP_EITHER, PP_HEAP_INUSE_SPACE);
    assert_true(rows.scaled);
    assert_int_equal(rows.count, 7);
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.list[i].size == 100) {
            double at_rate = pp_blocks_per_sample(100, RATE);
            double at_other = pp_blocks_per_sample(100, OTHER_RATE);
            assert_int_equal(rows.list[i].value[PP_HEAP_ALLOC_OBJECTS],
                             (int64_t)(5 * at_rate + 0.5) + (int64_t)(10 * at_other + 0.5));
            assert_int_equal(rows.list[i].value[PP_HEAP_INUSE_SPACE],
                             (int64_t)(300 * at_rate + 0.5) + (int64_t)(1000 * at_other + 0.5));
            assert_int_equal(rows.list[i].alloc_objects, 15);
            return;
        }
    }
    fail_msg("no row of site 1");
}

/* Records keep the leaf-most frames of a deep stack. */
static void deep_stacks_are_cut_at_the_root(void **state)
{
    (void)state;
    static pprof_mem_record records[16];
    uintptr_t pcs[PPROF_MAX_STACK + 50];
    size_t n = 0;
    for (uint32_t i = 0; i < PPROF_MAX_STACK + 50; i++)
        pcs[i] = 0x5000 + i;
    pp_heap_block_allocated(pp_heap_block_find(pcs, PPROF_MAX_STACK + 50, 5, 1 << 20, RATE, NULL));
    assert_true(pprof_mem_profile(records, 16, &n, true));
    assert_int_equal(records[0].alloc_bytes, 1 << 20);
    assert_int_equal(records[0].stack.depth, PPROF_MAX_STACK);
    assert_int_equal(records[0].stack.pc[0], 0x5000);
    assert_int_equal(records[0].stack.pc[PPROF_MAX_STACK - 1], 0x5000 + PPROF_MAX_STACK - 1);
}

static const pp_heap_row *find_row(const pp_heap_rows *rows, uint64_t size, const char *value)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *found = pp_labels_find(rows->list[i].labels, "who");
        if (rows->list[i].size == size && (found == NULL) == (value == NULL) &&
            (value == NULL || strcmp(found, value) == 0)) {
            return &rows->list[i];
        }
    }
    return NULL;
}

static void assert_objects(const pp_heap_row *row, int64_t allocated, int64_t in_use)
{
    assert_non_null(row);
    assert_int_equal(row->value[PP_HEAP_ALLOC_OBJECTS], allocated);
    assert_int_equal(row->value[PP_HEAP_ALLOC_SPACE], allocated * (int64_t)row->size);
    assert_int_equal(row->value[PP_HEAP_INUSE_OBJECTS], in_use);
    assert_int_equal(row->value[PP_HEAP_INUSE_SPACE], in_use * (int64_t)row->size);
}

static void labels_divide_a_row(void **state)
{
    (void)state;
    enum { SIZE = 31337 };
    pp_heap_rows rows;
    add(0x7000, SIZE, 1, 3, 1);
    add_labelled(0x7000, SIZE, "a", 5, 2);
    add_labelled(0x7000, SIZE, "b", 4, 4);
    add_labelled(0x7000, SIZE, "a", 1, 0);
    pp_arena_release(&arena);
    assert_int_equal(pp_heap_rows_read(PP_HEAP_NOW_BY_LABELS, PP_HEAP_SCALED, PP_HEAP_INUSE_SPACE,
                                       &arena, &rows),
                     0);
    assert_objects(find_row(&rows, SIZE, NULL), 3, 2);
    assert_objects(find_row(&rows, SIZE, "a"), 6, 4);
    assert_objects(find_row(&rows, SIZE, "b"), 4, 0);
    pp_heap_rows_release(&rows);
    rows = read_rows(PP_HEAP_RAW, PP_HEAP_INUSE_SPACE);
    assert_objects(find_row(&rows, SIZE, NULL), 13, 6);
    assert_null(find_row(&rows, SIZE, "a"));
}

/* Whose blocks are alive keeps its cell, however many come and go. */
static void live_blocks_keep_their_labels(void **state)
{
    (void)state;
    enum { SIZE = 4711, REQUESTS = 2 * PP_LABEL_CELLS };
    char value[16];
    pp_heap_rows rows;
    add_labelled(0x8000, SIZE, "alive", 1, 0);
    for (unsigned i = 0; i < REQUESTS; i++) {
        snprintf(value, sizeof value, "%u", i);
        add_labelled(0x8000, SIZE, value, 1, 1);
    }
    pp_arena_release(&arena);
    assert_int_equal(pp_heap_rows_read(PP_HEAP_NOW_BY_LABELS, PP_HEAP_SCALED, PP_HEAP_INUSE_SPACE,
                                       &arena, &rows),
                     0);
    assert_objects(find_row(&rows, SIZE, "alive"), 1, 1);
    assert_in_range(pp_label_cells_folded(pp_heap_buckets_labels()), REQUESTS - PP_LABEL_CELLS,
                    REQUESTS);
    pp_heap_rows_release(&rows);
    rows = read_rows(PP_HEAP_RAW, PP_HEAP_INUSE_SPACE);
    assert_objects(find_row(&rows, SIZE, NULL), REQUESTS + 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_no_rows),
        cmocka_unit_test(raw_rows_are_the_samples),
        cmocka_unit_test(scaled_rows_are_estimates),
        cmocka_unit_test(ties_are_ordered_by_stack_then_size),
        cmocka_unit_test(sites_without_samples_are_left_out),
        cmocka_unit_test(records_are_all_or_nothing),
        cmocka_unit_test(records_without_what_was_freed),
        cmocka_unit_test(several_rates_are_scaled_and_merged),
        cmocka_unit_test(deep_stacks_are_cut_at_the_root),
        cmocka_unit_test(classes_stand_for_what_their_blocks_do),
        cmocka_unit_test(labels_divide_a_row),
        cmocka_unit_test(live_blocks_keep_their_labels),
        cmocka_unit_test(many_ties_are_ordered_by_stack_then_size),
    };
    return cmocka_run_group_tests(tests, NULL, finish);
}
