/* SPDX-License-Identifier: MIT
 *
 * test_stack_ranks.c: ranks are in the order of the stacks, whatever is added when.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/stack_ranks.h"

enum { STACKS = 20000, ROUNDS = 40 };

static const pp_trie_stack *all[STACKS];
static pp_ranked_stack added[STACKS];
static size_t known;

/* Different stacks of two and three frames, many of which begin alike. */
static const pp_trie_stack *make_stack(uint64_t number)
{
    uint64_t hash = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    const uintptr_t three[] = {0x1000 + hash % 7, 0x1000 + (hash >> 8) % 97, 0x1000 + number};
    const uintptr_t two[] = {0x1000 + hash % 7, 0x100000 + number};
    return number % 9 == 0 ? pp_stack_trie_find(two, 2, hash) : pp_stack_trie_find(three, 3, hash);
}

static void add_stacks(size_t count, size_t repeated)
{
    size_t number = 0;
    while (number < count) {
        const pp_trie_stack *stack = make_stack(known);
        assert_non_null(stack);
        all[known++] = stack;
        added[number++].stack = stack;
    }
    for (size_t i = 0; i < repeated && i < count; i++) {
        added[number++] = added[i];
    }
    assert_true(pp_stack_ranks_begin());
    assert_true(pp_stack_ranks_add(added, number));
    pp_stack_ranks_end();
}

/* Each rank from 1 on is that of one stack, which is greater than the one before. */
static void assert_ranked(void)
{
    static const pp_trie_stack *of_rank[STACKS + 1];
    for (size_t i = 0; i <= known; i++) {
        of_rank[i] = NULL;
    }
    for (size_t i = 0; i < known; i++) {
        assert_in_range(all[i]->rank, 1, known);
        assert_null(of_rank[all[i]->rank]);
        of_rank[all[i]->rank] = all[i];
    }
    for (size_t rank = 2; rank <= known; rank++) {
        assert_true(pp_trie_stack_compare(of_rank[rank - 1], of_rank[rank]) < 0);
    }
    assert_int_equal(pp_stack_ranks_bytes(), known * sizeof *added);
}

static void ranks_are_in_the_order_of_the_stacks(void **state)
{
    (void)state;
    assert_int_equal(make_stack(0)->rank, 0);
    add_stacks(1, 0);
    assert_int_equal(all[0]->rank, 1);
    for (size_t round = 0; round < ROUNDS; round++) {
        add_stacks(1 + round * round % 97, round);
        assert_ranked();
    }
    add_stacks(STACKS / 2 - known % 100, 100); /* the list grows */
    assert_ranked();
}

static void one_at_a_time_has_the_ranks(void **state)
{
    (void)state;
    assert_true(pp_stack_ranks_begin());
    assert_false(pp_stack_ranks_begin());
    pp_stack_ranks_end();
    assert_true(pp_stack_ranks_begin());
    pp_stack_ranks_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_in_the_order_of_the_stacks),
        cmocka_unit_test(one_at_a_time_has_the_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
