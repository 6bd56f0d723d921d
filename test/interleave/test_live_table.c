/* SPDX-License-Identifier: MIT
 *
 * test_live_table.c: a block that was recorded is found when it is freed, whatever other threads
 * record and free meanwhile, and whether the filter grows or not; and nothing is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"

/* Old filters stay as they are, since the kernel gets no memory back; and there are no signals. */
#include "arch/system_call.h"
#undef pp_system_call
#define PICK(n, a, b, c, d, ...) do_nothing((long)(n), (long)(a), (long)(b), (long)(c), (long)(d))
#define pp_system_call(...)      PICK(__VA_ARGS__, 0, 0, 0, 0)
static inline void do_nothing(long number, long a, long b, long c, long d)
{
    (void)number, (void)a, (void)b, (void)c, (void)d;
}

/* Births are not kept here. */
#include "sys/clock.h"
pp_clock_function *pp_clock_reader;

/* Small enough to be filled in each execution. */
#include "kinds/heap/live_filter.h"
#undef PP_LIVE_FILTER_BYTES_MIN
#define PP_LIVE_FILTER_BYTES_MIN 16u

#ifdef __clang__ /* it says so here, where the first filter is read as a part of the test */
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif
#include "kinds/heap/live_filter.c"
#include "kinds/heap/live_table.c"

enum {
    A = 0x10100, /* each has a byte of the filter of its own */
    B = 0x10200,
    C = 0x10300,
    VALUE = 77,
    ALMOST_FULL = PP_LIVE_FILTER_BYTES_MIN / BYTES_PER_BLOCK
};

static void insert(uintptr_t address)
{
    MODEL_CHECK(pp_live_table_insert(address, address + VALUE));
}

/* As free() does: without the filter's yes the table is not asked. */
static void free_block(uintptr_t address)
{
    uint64_t value = 0;
    MODEL_CHECK(pp_live_filter_may_have(address));
    MODEL_CHECK(pp_live_table_remove(address, &value));
    MODEL_CHECK(value == address + VALUE);
}

static void set_up(void)
{
    pp_live_table_init();
    insert(C);
}

/* The next block makes the filter grow. */
static void set_up_full(void)
{
    set_up();
    table.entries = ALMOST_FULL;
}

static void use_a(void)
{
    insert(A);
    free_block(A);
}

static void use_b(void)
{
    insert(B);
    free_block(B);
}

static void insert_a(void)
{
    insert(A);
}

static void free_c(void)
{
    free_block(C);
}

static void reuse_a(void)
{
    use_a();
    use_a();
}

/* ---- after all ---- */

static uint64_t count_in(const pp_live_filter_table *filter)
{
    static const uintptr_t all[] = {A, B, C};
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        count += filter->count[pp_live_filter_hash(filter, all[i])];
    }
    return count;
}

static void check(uint64_t alive, uint64_t entries_before)
{
    MODEL_CHECK(table.entries == entries_before + alive);
    MODEL_CHECK(count_in(pp_live_filter) == alive);
    MODEL_CHECK(!table.growing && !pp_live_filter_is_growing());
}

static void none_is_left(void)
{
    check(0, 0);
}

static void c_is_left(void)
{
    check(1, 0);
    free_block(C);
    check(0, 0);
}

static void a_and_c_are_left_when_grown(void)
{
    MODEL_CHECK(pp_live_filter->generation == 1);
    check(2, ALMOST_FULL - 1);
    free_block(A);
    free_block(C);
    check(0, ALMOST_FULL - 1);
}

/* ---- passing a block on ---- */

static uintptr_t passed;

static void insert_and_pass(void)
{
    insert(A);
    __atomic_store_n(&passed, A, __ATOMIC_RELEASE);
}

static void free_passed(void)
{
    uintptr_t block = __atomic_load_n(&passed, __ATOMIC_ACQUIRE);
    if (block != 0) {
        free_block(block);
    }
}

static void a_may_be_left(void)
{
    uint64_t alive = table.entries - (ALMOST_FULL - 1);
    MODEL_CHECK(alive <= 2);
    check(alive, ALMOST_FULL - 1);
    if (alive == 2) {
        free_block(A);
    }
}

/* ---- one slot ---- */

/* All slots of both groups but one are in use: who comes second needs a level. */
static void set_up_one_slot(void)
{
    pp_live_table_init();
    level *l = NULL;
    claim_anywhere(C, &l);
    memset(l->words, 0, sizeof(uint64_t) * l->groups * GROUP);
    for (unsigned half = 0; half < 64; half += 32) {
        uint64_t *keys = keys_of(l, hash_address(A) >> half);
        for (unsigned i = 0; i < GROUP; i++) {
            keys[i] = C + i + half;
        }
    }
    keys_of(l, hash_address(A))[0] = 0;
}

static void use_a_twice(void)
{
    use_a();
    use_a();
}

/* Another address of the same groups. */
static uintptr_t find_like_a(void)
{
    uintptr_t other = A;
    uint64_t mask = FIRST_GROUPS - 1;
    do {
        other += 8;
    } while (((hash_address(other) ^ hash_address(A)) & mask) != 0 ||
             ((hash_address(other) ^ hash_address(A)) >> 32 & mask) != 0);
    return other;
}

static uintptr_t like_a;

static void use_like_a(void)
{
    insert(like_a);
    free_block(like_a);
}

static void no_entry_is_left(void)
{
    MODEL_CHECK(table.entries == 0);
    MODEL_CHECK(keys_of(table.levels[0], hash_address(A))[0] == 0);
}

/* ---- forgetting ---- */

enum { FIRST, SECOND, VALUES };
static unsigned taken[VALUES];

static bool take(uint64_t value)
{
    __atomic_add_fetch(&taken[value], 1, __ATOMIC_RELAXED);
    return true;
}

static void take_a(void)
{
    uint64_t value = 0;
    if (pp_live_table_remove(A, &value)) {
        take(value);
    }
}

static void set_up_a(void)
{
    pp_live_table_init();
    MODEL_CHECK(pp_live_table_insert(A, FIRST));
}

static void make_a_anew(void)
{
    take_a();
    MODEL_CHECK(pp_live_table_insert(A, SECOND));
}

static void forget_all(void)
{
    pp_live_table_remove_all(take);
}

static void each_was_taken_once(void)
{
    take_a();
    MODEL_CHECK(taken[FIRST] == 1 && taken[SECOND] == 1);
    MODEL_CHECK(table.entries == 0);
}

static const model_scenario forgets = {
    "forgets", set_up_a, {make_a_anew, forget_all}, each_was_taken_once};
static const model_scenario usual = {"usual", set_up, {use_a, use_b, free_c}, none_is_left};
static const model_scenario reused = {"reused", set_up, {reuse_a, use_b}, c_is_left};
static const model_scenario grows = {
    "grows", set_up_full, {insert_a, use_b}, a_and_c_are_left_when_grown};
static const model_scenario grows_and_frees = {
    "grows and frees", set_up_full, {insert_a, free_c}, NULL};
static const model_scenario grows_of_three = {
    "grows, three", set_up_full, {insert_a, use_b, free_c}, NULL};
static const model_scenario passes_on = {
    "passed on", set_up_full, {insert_and_pass, use_b, free_passed}, a_may_be_left};
static const model_scenario one_slot = {
    "one slot", set_up_one_slot, {use_a_twice, use_like_a}, no_entry_is_left};

/* ---- everything passes ---- */

static void pass_all(void)
{
    pp_live_filter_pass_all();
    MODEL_CHECK(pp_live_filter_may_have(B)); /* never recorded */
}

static void all_pass(void)
{
    MODEL_CHECK(pp_live_filter_may_have(A) && pp_live_filter_may_have(B));
    free_block(A);
    free_block(C);
    MODEL_CHECK(pp_live_filter_may_have(A) && pp_live_filter_may_have(B));
}

static const model_scenario passing = {"passing", set_up_full, {insert_a, pass_all}, all_pass};

/* ---- tests ---- */

static void every_block_is_found(void **state)
{
    (void)state;
    assert_holds_within(&usual, 0, 1);
    assert_holds(&reused);
    assert_holds_within(&one_slot, 1, 0);
}

static void a_block_that_is_forgotten_is_forgotten_once(void **state)
{
    (void)state;
    assert_holds(&forgets);
}

static void every_block_is_found_while_the_filter_grows(void **state)
{
    (void)state;
    assert_holds(&grows);
    assert_holds(&grows_and_frees);
    assert_holds_within(&grows_of_three, 1, 1);
    assert_holds_within(&passes_on, 1, 1);
}

static void everything_passes_once_it_is_told_to(void **state)
{
    (void)state;
    assert_holds(&passing);
    assert_is_caught(&passing, "pp_live_filter_begin_growth", MODEL_LOAD, __ATOMIC_ACQUIRE);
    assert_is_caught(&passing, "pp_live_filter_pass_all", MODEL_STORE, __ATOMIC_RELEASE);
}

/* Who records looks for the newest filter after it has shown its key, who grows looks at the keys
 * after it has shown the filter: all four are seq_cst. */
static void weaker_orders_are_found_out(void **state)
{
    (void)state;
    assert_is_caught(&grows, "pp_live_table_insert_again", MODEL_STORE, __ATOMIC_RELEASE);
    assert_is_caught(&grows, "pp_live_filter_newest", MODEL_LOAD, __ATOMIC_ACQUIRE);
    assert_is_caught(&grows, "pp_live_filter_begin_growth", MODEL_STORE, __ATOMIC_RELEASE);
    assert_is_caught(&grows, "move_level", MODEL_LOAD, __ATOMIC_ACQUIRE);
    assert_is_caught(&grows, "pp_live_filter_end_growth", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&passes_on, "pp_live_filter_may_have", MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&one_slot, "add_level", MODEL_RMW, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_found),
        cmocka_unit_test(a_block_that_is_forgotten_is_forgotten_once),
        cmocka_unit_test(every_block_is_found_while_the_filter_grows),
        cmocka_unit_test(everything_passes_once_it_is_told_to),
        cmocka_unit_test(weaker_orders_are_found_out),
    };
    read_bounds(argc, argv);
    like_a = find_like_a();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
