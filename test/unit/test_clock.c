/* SPDX-License-Identifier: MIT
 *
 * test_clock.c: the vDSO is found without libc, tells the time that libc tells, and is left once
 * the processor's counter is forbidden.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sys/clock.h"
#include "sys/tasks.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME,
                                   CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
enum { CLOCKS = sizeof clocks / sizeof *clocks };

static const int beyond_pid_max = (1 << 22) + 1;

static uint64_t of_libc(clockid_t clock)
{
    struct timespec now;
    assert_int_equal(clock_gettime(clock, &now), 0);
    return (uint64_t)now.tv_sec * PP_NS_PER_S + (uint64_t)now.tv_nsec;
}

static void expect_the_time(void)
{
    for (unsigned i = 0; i < CLOCKS; i++) {
        uint64_t before = of_libc(clocks[i]);
        uint64_t now = pp_clock_ns(clocks[i]);
        uint64_t after = of_libc(clocks[i]);
        assert_in_range(now, before, after);
    }
}

static void expect_no_such_clock(void)
{
    uint64_t ns = 17;
    errno = 4321;
    assert_false(pp_clock_read(pp_task_cpu_clock(beyond_pid_max), &ns));
    assert_int_equal(ns, 17);
    assert_int_equal(errno, 4321);
}

static void the_vdso_is_used(void **state)
{
    (void)state;
    expect_the_time();
    expect_no_such_clock();
    pp_clock_function *found = pp_clock_reader;
    uintptr_t image = getauxval(AT_SYSINFO_EHDR);
    if (image == 0) {
        skip(); /* under an emulator */
    }
    assert_in_range((uintptr_t)found, image, image + 64 * 1024);
}

/* In a child, which would die of the vDSO. */
static void a_counter_that_is_forbidden_is_not_read(void **state)
{
    (void)state;
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int refused = prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
        if (refused == 0) {
            pp_clock_ask_for_counter();
        }
        uint64_t first = pp_clock_ns(CLOCK_MONOTONIC);
        _exit(refused != 0 ? 77 : pp_clock_ns(CLOCK_MONOTONIC) >= first && first != 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        skip();
    }
    assert_int_equal(status, 0);
}

static void asking_changes_nothing_where_it_is_allowed(void **state)
{
    (void)state;
    pp_clock_function *before = pp_clock_reader;
    pp_clock_ask_for_counter();
    assert_true(pp_clock_reader == before);
}

static void system_calls_tell_the_same(void **state)
{
    (void)state;
    pp_clock_function *before = pp_clock_reader;
    pp_clock_avoid_counter();
    assert_true(pp_clock_reader != before);
    expect_the_time();
    expect_no_such_clock();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vdso_is_used),
        cmocka_unit_test(asking_changes_nothing_where_it_is_allowed),
        cmocka_unit_test(a_counter_that_is_forbidden_is_not_read),
        cmocka_unit_test(system_calls_tell_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
