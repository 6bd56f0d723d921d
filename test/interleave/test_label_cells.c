/* SPDX-License-Identifier: MIT
 *
 * test_label_cells.c: a cell that is in use has one key, and its values and references are those of
 * that key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/no_thread_context.h"
#include "interleave/scenario.h"
#include "store/label_cells.c"
#include "store/labels.c"

enum { WEIGHT = 5, BUSY_HASH = 1 };

static uint64_t room_of_set[(sizeof(pprof_labels) + sizeof(pp_label)) / sizeof(uint64_t)];
static pprof_labels *const set = (pprof_labels *)room_of_set;
static pp_label_cells *cells;
static const char *first_owner, *second_owner; /* whose keys begin in one group */
static const char owners[1 << 20];             /* one in 8192 will do */

pp_labels_piece *pp_labels_pool_take(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void pp_labels_pool_give(pp_labels_piece *piece)
{
    MODEL_CHECK(piece->refs > 0); /* the test has one always */
}

static uint64_t hash_of_owner(const char *owner)
{
    return hash_key(owner, set);
}

static void find_owners(void)
{
    first_owner = second_owner = owners;
    do {
        second_owner++;
    } while (hash_of_owner(second_owner) % GROUPS != hash_of_owner(first_owner) % GROUPS);
}

/* All cells where it may be are in use. */
static void occupy(const char *owner)
{
    for (unsigned half = 0; half < 64; half += 32) {
        group *in = group_of(cells, hash_of_owner(owner) >> half);
        for (unsigned i = 0; i < GROUP; i++) {
            in->hash[i] = BUSY_HASH;
            in->cell[i].users = 1;
        }
    }
}

static group *shared_group(void)
{
    return group_of(cells, hash_of_owner(first_owner));
}

static void set_up(void)
{
    set->count = 1;
    set->head.refs = 1;
    cells = pp_label_cells_new();
    occupy(first_owner);
    occupy(second_owner);
    shared_group()->hash[0] = 0;
    shared_group()->cell[0].users = 0;
}

static void count_for(const char *owner)
{
    pp_label_cell *cell = pp_label_cell_take(cells, owner, set, WEIGHT);
    if (cell != NULL) {
        MODEL_CHECK(cell->owner == owner && cell->labels == set);
        pp_label_cell_add(cell, 0, WEIGHT);
        pp_label_cell_give(cell);
    }
}

static void count_first(void)
{
    count_for(first_owner);
}

static void count_second(void)
{
    count_for(second_owner);
}

static void count_both(void)
{
    count_first();
    count_second();
}

/* As pp_label_cells_each(), of the one cell. */
static void read_cell(void)
{
    group *in = shared_group();
    pp_label_cell *cell = &in->cell[0];
    if (hash_at(in, 0) != 0 && begin_use(cell)) {
        if (hash_at(in, 0) != 0) {
            uint64_t value = __atomic_load_n(&cell->value[0], __ATOMIC_ACQUIRE);
            MODEL_CHECK(cell->owner == first_owner || cell->owner == second_owner);
            MODEL_CHECK(cell->labels == set && value % WEIGHT == 0);
        }
        pp_label_cell_give(cell);
    }
}

static void all_is_accounted_for(void)
{
    const pp_label_cell *cell = &shared_group()->cell[0];
    MODEL_CHECK(cell->users == 0);
    MODEL_CHECK(cells->used == 1);
    MODEL_CHECK(set->head.refs == 2); /* the test's, and that of the cell */
}

static void nothing_is_lost(void)
{
    const pp_label_cell *cell = &shared_group()->cell[0];
    all_is_accounted_for();
    MODEL_CHECK(cell->value[0] + cells->folded == 2 * WEIGHT);
}

static const model_scenario same = {
    "same key", set_up, {count_first, count_first}, nothing_is_lost};
static const model_scenario other = {
    "other key", set_up, {count_first, count_second, read_cell}, nothing_is_lost};
static const model_scenario refilled = {
    "refilled", set_up, {count_both, count_first, read_cell}, all_is_accounted_for};

static void a_cell_has_one_key(void **state)
{
    (void)state;
    assert_holds(&same);
    assert_holds_within(&other, 0, 1);
    assert_holds_within(&refilled, 1, 1);
}

static void weaker_orders_are_found_out(void **state)
{
    (void)state;
    assert_is_caught(&other, "begin_use", MODEL_RMW, __ATOMIC_RELAXED);
    assert_is_caught(&other, "begin_refill", MODEL_RMW, __ATOMIC_RELAXED);
    assert_is_caught(&other, "end_refill", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&other, "pp_label_cell_give", MODEL_RMW, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_has_one_key),
        cmocka_unit_test(weaker_orders_are_found_out),
    };
    read_bounds(argc, argv);
    find_owners();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
