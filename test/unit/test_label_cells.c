/* SPDX-License-Identifier: MIT
 *
 * test_label_cells.c: what is counted for a set of labels is found under what it says, memory stays
 * bounded, and no cell is refilled while it is in use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "profile/label_shares.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, ROUNDS = 40000, OWNERS = 7, SETS = 5 };

static const char owners[OWNERS];
static pp_label_cells *cells;
static pp_arena arena = PP_ARENA_INIT;

static int make_cells(void **state)
{
    (void)state;
    cells = pp_label_cells_new();
    return cells != NULL ? 0 : -1;
}

static int free_cells(void **state)
{
    (void)state;
    pp_arena_release(&arena);
    pp_label_cells_free(cells);
    return 0;
}

static pprof_labels *make(const char *key, const char *value)
{
    int error = 0;
    const char *const pair[] = {key, value};
    pprof_labels *labels = pp_labels_new(NULL, pair, 1, &error);
    assert_non_null(labels);
    return labels;
}

static pprof_labels *numbered(const char *key, unsigned number)
{
    char value[16];
    snprintf(value, sizeof value, "%u", number);
    return make(key, value);
}

static void count(const void *owner, pprof_labels *labels, uint64_t weight)
{
    pp_label_cell *cell = pp_label_cell_take(cells, owner, labels, weight);
    pp_label_cell_add(cell, 0, weight);
    pp_label_cell_give(cell);
}

/* What is found for that owner and label; 0 = none. */
static uint64_t find(const void *owner, const char *key, const char *value)
{
    pp_label_shares shares;
    size_t of_owner = 0;
    uint64_t sum = 0;
    assert_int_equal(pp_label_shares_read(cells, &arena, &shares), 0);
    const pp_label_share *share = pp_label_shares_of(&shares, owner, &of_owner);
    for (size_t i = 0; i < of_owner; i++) {
        const char *found = pp_labels_find(share[i].labels, key);
        sum += found != NULL && strcmp(found, value) == 0 ? share[i].value[0] : 0;
    }
    pp_label_shares_release(&shares);
    return sum;
}

static uint64_t sum_of_all(void)
{
    pp_label_shares shares;
    uint64_t sum = 0;
    assert_int_equal(pp_label_shares_read(cells, &arena, &shares), 0);
    for (size_t i = 0; i < shares.count; i++) {
        sum += shares.list[i].value[0];
    }
    pp_label_shares_release(&shares);
    return sum;
}

/* ---- what is found ---- */

static void sets_that_say_the_same_share_a_cell(void **state)
{
    (void)state;
    pprof_labels *sets[] = {make("k", "x"), make("k", "x"), make("k", "y")};
    for (unsigned i = 0; i < 3; i++) {
        count(&owners[0], sets[i], 10 + i);
        count(&owners[1], sets[i], 1);
    }
    assert_int_equal(pp_label_cells_count(cells), 4);
    assert_int_equal(find(&owners[0], "k", "x"), 21);
    assert_int_equal(find(&owners[0], "k", "y"), 12);
    assert_int_equal(find(&owners[1], "k", "x"), 2);
    assert_int_equal(find(&owners[2], "k", "x"), 0);
    assert_int_equal(pp_label_cells_folded(cells), 0);
    for (unsigned i = 0; i < 3; i++) {
        pp_labels_unref(sets[i]);
    }
}

static void no_labels_take_no_cell(void **state)
{
    (void)state;
    int error = 0;
    pprof_labels *empty = pp_labels_new(NULL, NULL, 0, &error);
    assert_null(pp_label_cell_take(cells, owners, NULL, 1));
    assert_null(pp_label_cell_take(cells, owners, empty, 1));
    assert_null(pp_label_cell_take(NULL, owners, empty, 1));
    assert_int_equal(pp_label_cells_count(cells), 0);
    pp_labels_unref(empty);
}

static void a_cell_holds_its_set(void **state)
{
    (void)state;
    pprof_labels *labels = make("k", "x");
    count(owners, labels, 3);
    assert_int_equal(labels->head.refs, 2);
    pp_labels_unref(labels);
    pp_labels_unref(make("k", "z")); /* would get the memory of a set that is gone */
    assert_int_equal(find(owners, "k", "x"), 3);
}

static void the_end_of_a_table_gives_its_sets_back(void **state)
{
    (void)state;
    pprof_labels *labels = make("k", "x");
    pp_label_cells *other = pp_label_cells_new();
    pp_label_cell_give(pp_label_cell_take(other, &owners[0], labels, 1));
    pp_label_cell_give(pp_label_cell_take(other, &owners[1], labels, 1));
    assert_int_equal(labels->head.refs, 3);
    pp_label_cells_free(other);
    assert_int_equal(labels->head.refs, 1);
    pp_labels_unref(labels);
}

/* ---- more sets than cells ---- */

/* A tenant that has one sample in ten, beside a request for each other one. */
static void who_has_a_share_stays_among_many_that_come_and_go(void **state)
{
    (void)state;
    enum { REQUESTS = 5 * PP_LABEL_CELLS };
    pprof_labels *tenant = make("tenant", "a");
    uint64_t counted = 0;
    for (unsigned i = 0; i < REQUESTS; i++) {
        pprof_labels *request = numbered("request", i);
        count(&owners[i % OWNERS], request, 1);
        pp_labels_unref(request);
        counted++;
        if (i >= REQUESTS / 2 && i % 10 == 0) { /* comes to a table that is full */
            count(owners, tenant, 1);
            counted++;
        }
    }
    assert_in_range(pp_label_cells_count(cells), PP_LABEL_CELLS * 9 / 10, PP_LABEL_CELLS);
    assert_int_equal(sum_of_all() + pp_label_cells_folded(cells), counted);
    assert_in_range(find(owners, "tenant", "a"), REQUESTS / 2 / 10 * 8 / 10, REQUESTS / 2 / 10);
    pp_labels_unref(tenant);
}

/* As long as there is room nothing is given up; two groups to choose from make that nearly all. */
static void a_table_fills_before_it_folds(void **state)
{
    (void)state;
    enum { FEW = PP_LABEL_CELLS * 3 / 4 };
    for (unsigned i = 0; i < FEW; i++) {
        pprof_labels *labels = numbered("k", i);
        count(owners, labels, 1);
        pp_labels_unref(labels);
    }
    assert_in_range(pp_label_cells_folded(cells), 0, FEW / 200);
}

static void large_sets_are_bounded_by_their_bytes(void **state)
{
    (void)state;
    enum { LARGE = 30000, COUNT = 3000 };
    static char text[LARGE + 1];
    memset(text, 'x', LARGE);
    size_t before = pp_labels_pool_bytes();
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(text, 16, "%015u", i);
        text[15] = 'x';
        pprof_labels *labels = make("k", text);
        count(owners, labels, 1);
        pp_labels_unref(labels);
    }
    assert_int_equal(sum_of_all() + pp_label_cells_folded(cells), COUNT);
    assert_in_range(pp_label_cells_folded(cells), 1, COUNT - 1);
    assert_in_range(pp_labels_pool_bytes() - before, 0, 200 << 20); /* pools grow by doubling */
}

static void cells_in_use_are_not_refilled(void **state)
{
    (void)state;
    enum { USED = 1000 };
    static pp_label_cell *used[USED];
    for (unsigned i = 0; i < USED; i++) {
        pprof_labels *labels = numbered("live", i);
        used[i] = pp_label_cell_take(cells, owners, labels, 1);
        assert_non_null(used[i]);
        pp_labels_unref(labels);
    }
    for (unsigned i = 0; i < 3 * PP_LABEL_CELLS; i++) {
        pprof_labels *labels = numbered("k", i);
        count(owners, labels, 100);
        pp_labels_unref(labels);
    }
    for (unsigned i = 0; i < USED; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "%u", i);
        assert_string_equal(pp_labels_find(used[i]->labels, "live"), expected);
        pp_label_cell_give(used[i]);
    }
}

/* ---- many threads ---- */

/* Sets of its own that say what others' say, now and then one that nobody else has. */
static void *count_often(void *number)
{
    uint64_t random = (uintptr_t)number + 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t draw = pp_random_next(&random);
        pprof_labels *labels = draw % 4 == 0 ? numbered("request", (unsigned)(draw >> 8))
                                             : numbered("tenant", (unsigned)(draw >> 8) % SETS);
        count(&owners[(draw >> 40) % OWNERS], labels, 1);
        pp_labels_unref(labels);
    }
    return NULL;
}

static void nothing_is_lost_between_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_often, (void *)i), 0);
    }
    for (unsigned i = 0; i < 20; i++) {
        assert_in_range(sum_of_all(), 0, THREADS * ROUNDS);
        pp_arena_release(&arena);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(sum_of_all() + pp_label_cells_folded(cells), THREADS * ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sets_that_say_the_same_share_a_cell, make_cells,
                                        free_cells),
        cmocka_unit_test_setup_teardown(no_labels_take_no_cell, make_cells, free_cells),
        cmocka_unit_test_setup_teardown(a_cell_holds_its_set, make_cells, free_cells),
        cmocka_unit_test_setup_teardown(the_end_of_a_table_gives_its_sets_back, make_cells,
                                        free_cells),
        cmocka_unit_test_setup_teardown(who_has_a_share_stays_among_many_that_come_and_go,
                                        make_cells, free_cells),
        cmocka_unit_test_setup_teardown(a_table_fills_before_it_folds, make_cells, free_cells),
        cmocka_unit_test_setup_teardown(large_sets_are_bounded_by_their_bytes, make_cells,
                                        free_cells),
        cmocka_unit_test_setup_teardown(cells_in_use_are_not_refilled, make_cells, free_cells),
        cmocka_unit_test_setup_teardown(nothing_is_lost_between_threads, make_cells, free_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
