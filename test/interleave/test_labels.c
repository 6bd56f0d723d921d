/* SPDX-License-Identifier: MIT
 *
 * test_labels.c: whoever gets a reference to another thread's set has the set that thread had, and
 * keeps it; a piece is given out once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/no_thread_context.h"
#include "interleave/scenario.h"
#include "store/labels.c"
#include "store/labels_pool.c"

enum { BYTES = 64 };

static pprof_labels *place; /* of the first thread's set */

static pprof_labels *new_set(const char *value)
{
    int error = 0;
    const char *pair[] = {"key", value};
    pprof_labels *labels = pp_labels_new(NULL, pair, 1, &error);
    MODEL_CHECK(labels != NULL);
    return labels;
}

static void set_up(void)
{
    place = new_set("1");
}

/* As pp_labels_exchange() for the thread's own place. */
static void exchange_place(pprof_labels *labels)
{
    pprof_labels *before = __atomic_load_n(&place, __ATOMIC_RELAXED);
    __atomic_store_n(&place, labels, __ATOMIC_RELEASE);
    pp_labels_unref(before);
}

static void change_set(void)
{
    exchange_place(new_set("2"));
    exchange_place(new_set("3")); /* in the piece of the first */
}

static void drop_set(void)
{
    exchange_place(NULL);
}

static void make_and_drop(void)
{
    pp_labels_unref(new_set("4"));
}

static void look_at_set(void)
{
    pprof_labels *labels = pp_labels_ref_of(&place);
    if (labels != NULL) {
        const char *text = pp_labels_texts(labels);
        MODEL_CHECK(labels->count == 1 && labels->text_bytes == sizeof "key\0"
                                                                       "1");
        MODEL_CHECK(labels->hash == pp_text_hash(text, labels->text_bytes));
        MODEL_CHECK(text[4] >= '1' && text[4] <= '3');
        pp_labels_unref(labels);
    }
}

static void one_is_left(void)
{
    MODEL_CHECK(place->head.refs == 1);
    pp_labels_unref(place);
}

static void none_is_left(void)
{
    unsigned index = class_of(sizeof(pprof_labels) + sizeof(pp_label) + 2 * sizeof "key");
    uint32_t count = 0;
    for (const pp_labels_piece *p = pop(index); p != NULL; p = pop(index)) {
        MODEL_CHECK(p->refs == 0);
        count++;
    }
    MODEL_CHECK(count == classes[index].used);
}

static void all_come_back(void)
{
    one_is_left();
    none_is_left();
}

static const model_scenario exchanged = {
    "exchanged", set_up, {change_set, look_at_set}, all_come_back};
static const model_scenario dropped = {
    "dropped", set_up, {drop_set, look_at_set, make_and_drop}, none_is_left};

/* ---- the pool ---- */

static void take_and_give(void)
{
    pp_labels_piece *piece = pp_labels_pool_take(BYTES);
    MODEL_CHECK(__atomic_add_fetch(&piece->refs, 1, __ATOMIC_RELAXED) == 1);
    __atomic_sub_fetch(&piece->refs, 1, __ATOMIC_RELAXED);
    pp_labels_pool_give(piece);
}

static void take_two_and_give(void)
{
    pp_labels_piece *first = pp_labels_pool_take(BYTES);
    take_and_give();
    pp_labels_pool_give(first);
}

static void set_up_two(void)
{
    take_two_and_give();
}

static const model_scenario pool = {"pool", set_up_two, {take_and_give, take_two_and_give}, NULL};

static void a_reference_is_to_the_set_that_is_there(void **state)
{
    (void)state;
    assert_holds(&exchanged);
    assert_holds(&dropped);
    assert_is_caught(&exchanged, "pp_labels_try_ref", MODEL_RMW, __ATOMIC_RELAXED);
    assert_is_caught(&exchanged, "pp_labels_unref", MODEL_RMW, __ATOMIC_RELAXED);
}

static void a_piece_is_given_out_once(void **state)
{
    (void)state;
    assert_holds(&pool);
    assert_is_caught(&exchanged, "pp_labels_pool_give", MODEL_RMW, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_is_to_the_set_that_is_there),
        cmocka_unit_test(a_piece_is_given_out_once),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
