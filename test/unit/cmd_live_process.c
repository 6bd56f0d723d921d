/* SPDX-License-Identifier: MIT
 *
 * cmd_live_process.c: what the kernel says of this process, and of children that end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ask/process_files.h"
#include "live/live_process.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void loads_are_shares_of_the_time(void **state)
{
    const uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
    cp_thread_use old[] = {{1, 10, "main"}, {3, 5, "gone"}};
    cp_thread_use new[] = {{1, 10 + second / 10, "main"}, {2, second, "new"}, {4, 1, "idle"}};
    const cp_process_use before = {1000000000, 500000000, old, 2};
    const cp_process_use after = {3000000000, 2500000000, new, 3};
    cp_process_load load = cp_process_load_between(&before, &after);

    (void)state;
    assert_int_equal(load.threads, 3);
    assert_int_equal(load.busy, 2);
    assert_string_equal(load.busiest, "new");
    assert_true(load.most > 0.49 && load.most < 0.51);
    assert_true(load.cpu > 0.99 && load.cpu < 1.01);
}

static void what_is_not_known_is_no_load(void **state)
{
    const cp_process_use nothing = {.cpu_ns = -1};
    cp_process_load load = cp_process_load_between(&nothing, &nothing);

    (void)state;
    assert_true(load.cpu < 0);
    assert_int_equal(load.busy, 0);
    assert_string_equal(load.busiest, "");
}

static void use_has_the_clock_and_the_threads(void **state)
{
    const struct timespec own = {0};
    struct timespec now = own;
    cp_process_use use;

    (void)state;
    prctl(PR_SET_NAME, "a (b) c"); /* which /proc/PID/stat has between parentheses */
    cp_process_use_read(getpid(), &use);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    assert_true(use.cpu_ns > 0);
    assert_true(use.cpu_ns <= (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    assert_int_equal(use.thread_count, 1);
    assert_int_equal(use.threads[0].tid, getpid());
    assert_string_equal(use.threads[0].name, "a (b) c");
    cp_process_use_release(&use);
}

static void a_command_has_its_arguments(void **state)
{
    char *command = cp_process_command(getpid());

    (void)state;
    assert_non_null(strstr(command, "unit_cmd_live_process"));
    free(command);
    assert_null(cp_process_command(0x7fffffff));
}

static void the_end_of_a_process_is_noticed(void **state)
{
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        pause();
        _exit(0);
    }
    int watch = cp_process_watch(child);
    struct pollfd polled = {.fd = watch, .events = POLLIN};
    assert_true(cp_process_lives(child));
    if (watch >= 0) {
        assert_int_equal(poll(&polled, 1, 0), 0);
    }
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_false(cp_process_lives(child)); /* a zombie */
    if (watch >= 0) {
        assert_int_equal(poll(&polled, 1, -1), 1);
        close(watch);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(cp_process_lives(child));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_shares_of_the_time),
        cmocka_unit_test(what_is_not_known_is_no_load),
        cmocka_unit_test(use_has_the_clock_and_the_threads),
        cmocka_unit_test(a_command_has_its_arguments),
        cmocka_unit_test(the_end_of_a_process_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
