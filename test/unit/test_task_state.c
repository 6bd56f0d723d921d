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

#ifdef SYS_poll
static const char name_of_poll[] = "poll";
#else
static const char name_of_poll[] = "ppoll"; /* which poll() calls */
#endif

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
    assert_string_equal(pp_task_call_name(place.call), name_of_poll);
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

static unsigned count_kept(const pp_task_files *files)
{
    unsigned count = 0;
    for (unsigned i = 0; i < PP_TASK_KEPT; i++) {
        count += files->kept[i].tid != 0;
    }
    return count;
}

/* The next descriptor that would be opened: it shows whether a look has opened any, or closed it. */
static int next_descriptor(void)
{
    int next = dup(0);
    close(next);
    return next;
}

static void files_that_stay_open(void **state)
{
    enum { MORE = PP_TASK_KEPT + 2 };
    (void)state;
    static parked_thread threads[MORE];
    pp_task_files files = {.look = 0};
    pp_task_place place = {.call = -1};
    const int folder = PP_TASK_ANY_FOLDER;
    int first = next_descriptor();
    for (unsigned i = 0; i < MORE; i++) {
        parked_start(&threads[i]);
        assert_int_equal(look_until(folder, threads[i].tid, PP_TASK_WAITS, &place), PP_TASK_WAITS);
    }
    int before = next_descriptor();
    for (unsigned look = 0; look < 3; look++) {
        pp_task_files_begin_look(&files);
        for (unsigned i = 0; i < MORE; i++) {
            place.call = -1;
            assert_int_equal(pp_task_look_again(&files, folder, threads[i].tid, &place),
                             PP_TASK_WAITS);
            assert_string_equal(pp_task_call_name(place.call), name_of_poll);
            int64_t delay_ns = pp_task_delay_ns(NULL, folder, threads[i].tid);
            assert_true(delay_ns >= 0);
            assert_int_equal(pp_task_delay_ns(&files, folder, threads[i].tid), delay_ns);
        }
        assert_int_equal(count_kept(&files), PP_TASK_KEPT);
        for (unsigned i = 0; i < PP_TASK_KEPT; i++) { /* the first ones have stayed */
            assert_int_equal(files.kept[PP_TASK_KEPT - 1 - i].tid, threads[i].tid);
            assert_true(files.kept[i].syscall >= before && files.kept[i].schedstat >= before);
        }
    }
    /* A thread that is gone, and others that take the places which are not used any more. */
    int gone = threads[0].tid;
    assert_true(parked_end(&threads[0]));
    while (pp_task_letter(folder, gone) != 0) {
        poll(NULL, 0, 1);
    }
    assert_int_equal(pp_task_look_again(&files, folder, gone, &place), PP_TASK_GONE);
    assert_int_equal(pp_task_delay_ns(&files, folder, gone), -1);
    pp_task_files_begin_look(&files);
    pp_task_files_begin_look(&files);
    for (unsigned i = 1; i < MORE; i++) {
        assert_int_equal(pp_task_look_again(&files, folder, threads[i].tid, &place), PP_TASK_WAITS);
    }
    assert_int_equal(count_kept(&files), PP_TASK_KEPT);
    for (unsigned i = 1; i < MORE; i++) {
        assert_true(parked_end(&threads[i]));
    }
    pp_task_files_close(&files);
    assert_int_equal(count_kept(&files), 0);
    assert_int_equal(next_descriptor(), first);
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
        cmocka_unit_test(one_that_waits),      cmocka_unit_test(one_that_computes),
        cmocka_unit_test(one_that_is_no_more), cmocka_unit_test(files_that_stay_open),
        cmocka_unit_test(names_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
