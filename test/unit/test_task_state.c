/* SPDX-License-Identifier: MIT
 *
 * test_task_state.c: what /proc says of threads that wait, compute and are no more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/sampling_signal.h"
#include "sys/task_state.h"

#include "parked_thread.h"

#include <sys/syscall.h>

static pp_task_activity look_until(int folder, int tid, pp_task_activity wanted,
                                   pp_task_place *place)
{
    enum { ATTEMPTS = 10000 };
    pp_task_activity now = pp_task_look(folder, tid, place);
    for (unsigned i = 0; i < ATTEMPTS && now != wanted; i++) {
        poll(NULL, 0, 1);
        now = pp_task_look(folder, tid, place);
    }
    return now;
}

static void one_that_waits(void **state)
{
    (void)state;
    parked_thread t = {.blocked = SIGUSR1};
    pp_task_place place;
    char name[PP_TASK_NAME_BYTES];
    char text[PP_TASK_STATUS_BYTES];
    int folder = pp_task_open();
    assert_true(folder >= 0);
    parked_start(&t);
    pthread_setname_np(t.thread, "a ) name (");
    assert_int_equal(look_until(folder, t.tid, PP_TASK_WAITS, &place), PP_TASK_WAITS);
    assert_string_equal(pp_task_call_name(place.call), "poll");
    assert_true(place.pc != 0 && place.sp != 0 && place.sp < (uintptr_t)t.thread);
    assert_int_equal(pp_task_letter(folder, t.tid), 'S');
    assert_true(pp_task_blocks(folder, t.tid, SIGUSR1, text));
    assert_false(pp_task_blocks(folder, t.tid, SIGUSR2, text));
    assert_false(pp_task_blocks(folder, t.tid, SIGPROF, text));
    pp_task_name(folder, t.tid, name);
    assert_string_equal(name, "a ) name (");
    assert_true(parked_end(&t));
    pp_task_close(folder);
}

static void one_that_computes(void **state)
{
    (void)state;
    parked_thread t = {.computes = true, .blocked = PP_SAMPLING_SIGNAL};
    pp_task_place place;
    char text[PP_TASK_STATUS_BYTES];
    int folder = pp_task_open();
    parked_start(&t);
    assert_int_equal(look_until(folder, t.tid, PP_TASK_RUNS, &place), PP_TASK_RUNS);
    assert_int_equal(pp_task_letter(folder, t.tid), 'R');
    assert_true(pp_task_blocks(folder, t.tid, PP_SAMPLING_SIGNAL, text));
    assert_true(pp_task_blocks(PP_TASK_ANY_FOLDER, t.tid, PP_SAMPLING_SIGNAL, text));
    assert_false(pp_task_blocks(folder, t.tid, PP_SAMPLING_SIGNAL + 1, text));
    assert_true(parked_end(&t));
    pp_task_close(folder);
}

static void one_that_is_no_more(void **state)
{
    (void)state;
    parked_thread t = {.computes = false};
    pp_task_place place;
    char name[PP_TASK_NAME_BYTES];
    char text[PP_TASK_STATUS_BYTES];
    int folder = pp_task_open();
    parked_start(&t);
    assert_true(parked_end(&t));
    assert_int_equal(look_until(folder, t.tid, PP_TASK_GONE, &place), PP_TASK_GONE);
    assert_int_equal(pp_task_letter(folder, t.tid), 0);
    assert_false(pp_task_blocks(folder, t.tid, SIGUSR1, text));
    pp_task_name(folder, t.tid, name);
    assert_string_equal(name, "");
    pp_task_close(folder);
}

static void names_of_calls(void **state)
{
    (void)state;
    assert_string_equal(pp_task_call_name(SYS_futex), "futex");
    assert_string_equal(pp_task_call_name(SYS_read), "read");
    assert_null(pp_task_call_name(-1));
    assert_null(pp_task_call_name(1 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_waits),
        cmocka_unit_test(one_that_computes),
        cmocka_unit_test(one_that_is_no_more),
        cmocka_unit_test(names_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
