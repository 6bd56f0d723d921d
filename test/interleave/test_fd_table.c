/* SPDX-License-Identifier: MIT
 *
 * test_fd_table.c: a descriptor's labels are those of who opened it, and no reference is
 * lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/no_thread_context.h"
#include "interleave/scenario.h"
#include "kinds/fd/fd_table.c"
#include "store/labels.c"

enum { FD = 3, SETS = 3 };

/* Labels number i belong to stack number i. */
static pp_trie_stack stacks[SETS];
static struct pprof_labels sets[SETS];

pp_labels_piece *pp_labels_pool_take(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void pp_labels_pool_give(pp_labels_piece *piece)
{
    MODEL_CHECK(__atomic_load_n(&piece->refs, __ATOMIC_RELAXED) == 0);
}

static void set_up(void)
{
    for (unsigned i = 0; i < SETS; i++) {
        sets[i].head.refs = 1;
    }
}

static void open_as(unsigned number)
{
    pp_fd_table_set(FD, &stacks[number], pp_labels_ref(&sets[number]));
}

static void open_and_close(void)
{
    open_as(0);
    pp_fd_table_clear(FD, FD);
}

static void open_close_open(void)
{
    open_and_close();
    open_as(1);
}

static void open_another(void)
{
    open_as(2);
}

static void look(void)
{
    pprof_labels *labels = NULL;
    const pp_trie_stack *stack = pp_fd_table_get(FD, &labels);
    if (labels != NULL) {
        MODEL_CHECK(stack != NULL && labels - sets == stack - stacks);
    }
    pp_labels_unref(labels);
}

static void all_references_come_back(void)
{
    pp_fd_table_clear(FD, FD);
    for (unsigned i = 0; i < SETS; i++) {
        MODEL_CHECK(sets[i].head.refs == 1);
    }
}

static const model_scenario reading = {
    "reading", set_up, {open_close_open, look}, all_references_come_back};
/* A descriptor that one thread closes and another has opened since. */
static const model_scenario crossing = {
    "crossing", set_up, {open_and_close, open_another}, all_references_come_back};

static void labels_are_of_the_stack(void **state)
{
    (void)state;
    assert_holds(&reading);
    assert_holds(&crossing);
    /* Of the exchanges each would do; see whether the look at the labels does. */
    assert_is_caught(&reading, "pp_labels_ref_of", MODEL_LOAD, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_of_the_stack),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
