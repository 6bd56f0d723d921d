/* SPDX-License-Identifier: MIT
 *
 * test_stack_counts.c: however threads meet, a stack has one entry, which has all that was counted,
 * and whoever finds it finds it whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"
#include "store/stack_counts.c"

enum { DEPTH = 2, HASH = 7, OTHER_HASH = HASH + CHAINS /* of the same chain */ };

static const uintptr_t stack[DEPTH] = {1, 2};
static const uintptr_t other_stack[DEPTH] = {3, 4};
static pp_stack_counts *counts;

static void set_up(void)
{
    counts = pp_stack_counts_new(SMALLEST);
}

/* The first piece is full: whoever comes needs the second. */
static void set_up_full(void)
{
    counts = pp_stack_counts_new_growing((size_t)SMALLEST * 2);
    counts->used_words = counts->first_words;
}

static void record_stack(void)
{
    const pp_stack_entry *e = pp_stack_counts_record(counts, stack, DEPTH, HASH, 1);
    MODEL_CHECK(e != NULL && e->hash == HASH && __atomic_load_n(&e->count, __ATOMIC_RELAXED) > 0);
}

static void record_other(void)
{
    pp_stack_counts_record(counts, other_stack, DEPTH, OTHER_HASH, 1);
}

static void record_both(void)
{
    record_stack();
    record_other();
}

static void record_both_backwards(void)
{
    record_other();
    record_stack();
}

/* How many entries a stack has, and what they say together. */
typedef struct found {
    uint64_t entries, count;
} found;

static void look_at(const pp_stack_entry *entry, void *context)
{
    found *f = context; /* of both stacks */
    bool is_first = entry->hash == HASH;
    const uintptr_t *pcs = is_first ? stack : other_stack;
    MODEL_CHECK(is_first || entry->hash == OTHER_HASH);
    MODEL_CHECK(entry->depth == DEPTH && entry->pc[0] == pcs[0] && entry->pc[1] == pcs[1]);
    f[!is_first].entries++;
    f[!is_first].count += __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
}

static void read_all(void)
{
    found f[2] = {{0, 0}, {0, 0}};
    pp_stack_counts_each(counts, look_at, f);
    MODEL_CHECK(f[0].entries <= 1 && f[1].entries <= 1);
}

/* Both are in one chain. */
static void check(uint64_t first, uint64_t other)
{
    found f[2] = {{0, 0}, {0, 0}};
    for (uint32_t at = counts->heads[HASH % CHAINS]; at != 0; at = entry_at(counts, at)->next) {
        look_at(entry_at(counts, at), f);
    }
    MODEL_CHECK(f[0].entries == (first > 0) && f[0].count == first);
    MODEL_CHECK(f[1].entries == (other > 0) && f[1].count == other);
}

static void three_of_one(void)
{
    check(3, 0);
}

static void two_and_one(void)
{
    check(2, 1);
}

static void two_of_each(void)
{
    check(2, 2);
}

static void one_of_each(void)
{
    check(1, 1);
}

static const model_scenario same = {
    "same stack", set_up, {record_stack, record_stack, record_stack}, three_of_one};
static const model_scenario chain = {
    "one chain", set_up, {record_stack, record_other, record_stack}, two_and_one};
static const model_scenario crossing = {
    "crossing", set_up, {record_both, record_both_backwards}, two_of_each};
static const model_scenario growing = {
    "growing", set_up_full, {record_stack, record_both, read_all}, two_and_one};
static const model_scenario reading = {"reading", set_up, {record_both, read_all}, one_of_each};

static void nothing_is_lost_or_twice(void **state)
{
    (void)state;
    assert_holds(&same);
    assert_holds(&chain);
    assert_holds(&crossing);
    assert_holds_within(&growing, 1, 1);
}

static void what_is_found_is_whole(void **state)
{
    (void)state;
    assert_holds(&reading);
    assert_is_caught(&same, "pp_stack_counts_record", MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&same, "pp_stack_counts_record", MODEL_RMW, __ATOMIC_RELAXED);
    assert_is_caught(&reading, "pp_stack_counts_record", MODEL_RMW, __ATOMIC_RELAXED);
    assert_is_caught(&reading, "pp_stack_counts_each", MODEL_LOAD, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_twice),
        cmocka_unit_test(what_is_found_is_whole),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
