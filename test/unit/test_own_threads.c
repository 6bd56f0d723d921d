/* SPDX-License-Identifier: MIT
 *
 * test_own_threads.c: the list of libpprof's own threads: who is in it, and what happens when it is full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/own_threads.h"

enum { ROOM = 8 };

static void a_thread_is_in_the_list_until_it_is_removed(void **state)
{
    (void)state;
    assert_false(pp_own_threads_have(100));
    pp_own_threads_replace(0, 100);
    assert_true(pp_own_threads_have(100));
    assert_int_equal(pp_own_threads_count(), 1);
    pp_own_threads_replace(100, 0);
    assert_false(pp_own_threads_have(100));
    assert_int_equal(pp_own_threads_count(), 0);
}

static void an_id_can_change(void **state)
{
    (void)state;
    pp_own_threads_replace(0, 100);
    pp_own_threads_replace(100, 200);
    assert_false(pp_own_threads_have(100));
    assert_true(pp_own_threads_have(200));
    pp_own_threads_replace(200, 0);
}

static void a_full_list_takes_no_more(void **state)
{
    (void)state;
    for (int i = 0; i < ROOM + 1; i++) {
        pp_own_threads_replace(0, 100 + i);
    }
    assert_int_equal(pp_own_threads_count(), ROOM);
    assert_false(pp_own_threads_have(100 + ROOM));
    for (int i = 0; i < ROOM + 1; i++) {
        pp_own_threads_replace(100 + i, 0);
    }
    assert_int_equal(pp_own_threads_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_is_in_the_list_until_it_is_removed),
        cmocka_unit_test(an_id_can_change),
        cmocka_unit_test(a_full_list_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
