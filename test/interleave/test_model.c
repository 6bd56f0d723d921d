/* SPDX-License-Identifier: MIT
 *
 * test_model.c: the model allows what C11 allows, and nothing else, as far as the usual examples
 * tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"

static uint64_t x, y, z, data, a, b, c, d;

/* ---- message passing ---- */

static void writes_data(void)
{
    data = 1;
    __atomic_store_n(&x, 1, __ATOMIC_RELEASE);
}

static void reads_data(void)
{
    if (__atomic_load_n(&x, __ATOMIC_ACQUIRE) == 1) {
        MODEL_CHECK(data == 1);
    }
}

static void a_release_passes_plain_data_on(void **state)
{
    (void)state;
    static const model_scenario s = {"message", NULL, {writes_data, reads_data}, NULL};
    assert_holds(&s);
    assert_is_caught(&s, "writes_data", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&s, "reads_data", MODEL_LOAD, __ATOMIC_RELAXED);
}

static void writes_behind_fence(void)
{
    __atomic_store_n(&y, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&x, 1, __ATOMIC_RELAXED);
}

static void reads_before_fence(void)
{
    uint64_t first = __atomic_load_n(&x, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    MODEL_CHECK(__atomic_load_n(&y, __ATOMIC_RELAXED) >= first);
}

static void fences_pass_on_what_was_stored(void **state)
{
    (void)state;
    static const model_scenario s = {
        "fences", NULL, {writes_behind_fence, reads_before_fence}, NULL};
    assert_holds(&s);
    assert_is_caught(&s, "writes_behind_fence", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&s, "reads_before_fence", MODEL_FENCE, __ATOMIC_RELAXED);
}

/* ---- store buffering ---- */

static void stores_x(void)
{
    __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
    a = __atomic_load_n(&y, __ATOMIC_SEQ_CST);
}

static void stores_y(void)
{
    __atomic_store_n(&y, 1, __ATOMIC_SEQ_CST);
    b = __atomic_load_n(&x, __ATOMIC_SEQ_CST);
}

static void stores_x_and_fences(void)
{
    __atomic_store_n(&x, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    a = __atomic_load_n(&y, __ATOMIC_RELAXED);
}

static void stores_y_and_fences(void)
{
    __atomic_store_n(&y, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    b = __atomic_load_n(&x, __ATOMIC_RELAXED);
}

static void one_saw_the_other(void)
{
    MODEL_CHECK(a == 1 || b == 1);
}

static void one_of_two_sees_the_other(void **state)
{
    (void)state;
    static const model_scenario orders = {
        "buffering", NULL, {stores_x, stores_y}, one_saw_the_other};
    static const model_scenario fences = {
        "buffering, fences", NULL, {stores_x_and_fences, stores_y_and_fences}, one_saw_the_other};
    assert_holds(&orders);
    assert_holds(&fences);
    assert_is_caught(&orders, "stores_x", MODEL_STORE, __ATOMIC_RELEASE);
    assert_is_caught(&orders, "stores_y", MODEL_LOAD, __ATOMIC_ACQUIRE);
    assert_is_caught(&fences, "stores_x_and_fences", MODEL_FENCE, __ATOMIC_ACQ_REL);
}

/* A read-modify-write is no fence: what follows may be read as it was before. */
static void adds_and_reads(void)
{
    __atomic_add_fetch(&x, 1, __ATOMIC_SEQ_CST);
    a = __atomic_load_n(&y, __ATOMIC_ACQUIRE);
}

static void a_read_modify_write_is_no_fence(void **state)
{
    (void)state;
    static const model_scenario s = {"add", NULL, {adds_and_reads, stores_y}, one_saw_the_other};
    assert_non_null(model_explore(&s, NULL, bounds).fault);
}

/* ---- others ---- */

static void stores_x_once(void)
{
    __atomic_store_n(&x, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&x, 2, __ATOMIC_RELAXED);
}

static void reads_x_twice(void)
{
    uint64_t first = __atomic_load_n(&x, __ATOMIC_RELAXED);
    MODEL_CHECK(__atomic_load_n(&x, __ATOMIC_RELAXED) >= first);
}

static void nobody_reads_backwards(void **state)
{
    (void)state;
    static const model_scenario s = {
        "coherence", NULL, {stores_x_once, reads_x_twice, reads_x_twice}, NULL};
    assert_holds(&s);
}

static void releases_x(void)
{
    data = 1;
    __atomic_store_n(&x, 1, __ATOMIC_RELEASE);
}

static void adds_to_x(void)
{
    __atomic_add_fetch(&x, 2, __ATOMIC_RELAXED);
}

static void reads_what_was_added(void)
{
    if (__atomic_load_n(&x, __ATOMIC_ACQUIRE) == 3) {
        MODEL_CHECK(data == 1); /* 1 + 2, or 2 overwritten by 1, is not 3 */
    }
}

static void a_read_modify_write_goes_on_with_a_release(void **state)
{
    (void)state;
    static const model_scenario s = {
        "release sequence", NULL, {releases_x, adds_to_x, reads_what_was_added}, NULL};
    assert_holds(&s);
    assert_is_caught(&s, "releases_x", MODEL_STORE, __ATOMIC_RELAXED);
}

static void tries_to_be_first(void)
{
    uint64_t none = 0;
    if (__atomic_compare_exchange_n(&z, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        __atomic_add_fetch(&c, 1, __ATOMIC_RELAXED);
    }
}

static void one_was_first(void)
{
    MODEL_CHECK(c == 1 && d == 0);
}

static void one_alone_exchanges(void **state)
{
    (void)state;
    static const model_scenario s = {
        "exchange", NULL, {tries_to_be_first, tries_to_be_first, tries_to_be_first}, one_was_first};
    assert_holds(&s);
}

/* Three threads agree on the order of two stores only if their loads are seq_cst. */
static void reads_x_then_y(void)
{
    a = __atomic_load_n(&x, __ATOMIC_ACQUIRE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    b = __atomic_load_n(&y, __ATOMIC_ACQUIRE);
}

static void stores_y_then_reads_x(void)
{
    __atomic_store_n(&y, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    c = __atomic_load_n(&x, __ATOMIC_RELAXED);
}

static void releases_only_x(void)
{
    __atomic_store_n(&x, 1, __ATOMIC_RELEASE);
}

static void both_do_not_miss(void)
{
    MODEL_CHECK(!(a == 1 && b == 0 && c == 0));
}

static void fences_order_what_was_read(void **state)
{
    (void)state;
    static const model_scenario s = {"read, fence, read",
                                     NULL,
                                     {releases_only_x, reads_x_then_y, stores_y_then_reads_x},
                                     both_do_not_miss};
    assert_holds(&s);
    assert_is_caught(&s, "reads_x_then_y", MODEL_FENCE, __ATOMIC_ACQ_REL);
    assert_is_caught(&s, "stores_y_then_reads_x", MODEL_FENCE, __ATOMIC_ACQ_REL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_passes_plain_data_on),
        cmocka_unit_test(fences_pass_on_what_was_stored),
        cmocka_unit_test(one_of_two_sees_the_other),
        cmocka_unit_test(a_read_modify_write_is_no_fence),
        cmocka_unit_test(nobody_reads_backwards),
        cmocka_unit_test(a_read_modify_write_goes_on_with_a_release),
        cmocka_unit_test(one_alone_exchanges),
        cmocka_unit_test(fences_order_what_was_read),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
