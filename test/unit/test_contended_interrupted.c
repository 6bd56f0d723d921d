/* SPDX-License-Identifier: MIT
 *
 * test_contended_interrupted.c: a signal handler that waits for an object leaves the list to the
 * function that it has interrupted, wherever that is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A handler runs where the code under test orders stores for handlers: between two of them. */
static void interrupt(void);
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the compiler's name */
#define __atomic_signal_fence(order) interrupt()
/* NOLINTNEXTLINE(bugprone-suspicious-include): with a handler in it */
#include "kinds/contention/contended.c"

enum { OBJECT = 0x6100, LEAST_STEPS = 3 * 4 * 2 /* functions, stores, fences */, MOST_STEPS = 100 };

static const uintptr_t same_list = OBJECT + (UINT64_C(1) << 40);
static int steps_before = -1; /* -1: no handler runs */

static __attribute__((noinline)) void handler(void)
{
    pp_place place = {.at = NULL};
    uint64_t unseen_ns = 0;
    pp_contended_join(same_list, &place);
    pp_contended_leave(&place, true, &unseen_ns);
}

static void interrupt(void)
{
    if (steps_before >= 0 && steps_before-- == 0)
        handler();
}

static void wait_for_a_release(void)
{
    pp_place place = {.at = NULL};
    pp_charge *charge = NULL;
    uint64_t waited_ns = 0;
    uint64_t unseen_ns = 0;
    assert_true(pp_contended_join(OBJECT, &place));
    assert_true(pp_contended_release(OBJECT, 0, &waited_ns, &charge));
    pp_contended_leave(&place, true, &unseen_ns);
    assert_int_equal(unseen_ns, 0);
}

/* The list has an owner before its stack pointer is written there, and after that was erased. */
static void a_handler_takes_no_list_from_who_goes_on(void **state)
{
    (void)state;
    int steps = 0;
    do {
        steps_before = steps++;
        wait_for_a_release();
        assert_int_equal(list_of(OBJECT)->owner, 0);
        assert_null(list_of(OBJECT)->first);
        assert_int_equal(inside, 0);
    } while (steps_before < 0);
    steps_before = -1;
    assert_in_range(steps, LEAST_STEPS, MOST_STEPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_handler_takes_no_list_from_who_goes_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
