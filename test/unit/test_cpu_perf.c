/* SPDX-License-Identifier: MIT
 *
 * test_cpu_perf.c: the descriptor of a perf event: where it lies, how it is known again, and that
 * a file of the host's under its number is left alone; its signal, where an exec would leave it to
 * another program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/cpu/cpu_perf.h"
#include "kinds/cpu/cpu_threads.h"
#include "kinds/cpu/cpu_timers.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pp_cpu_slot slot;

static int arm(void)
{
    int64_t now = pp_task_cpu_ns(pp_task_self());
    pp_cpu->engine = &pp_cpu_engine_perf;
    pp_cpu->number = 1;
    pp_cpu->facts.period_ns = 3600 * UINT64_C(1000000000); /* no signal while the test runs */
    slot = (pp_cpu_slot){.tid = pp_task_self(), .timer = -1, .event = -1, .session = 1};
    slot.first_ns = (uint64_t)now + pp_cpu->facts.period_ns;
    return pp_cpu_engine_perf.arm(&slot);
}

static int set_up(void **state)
{
    (void)state;
    pp_cpu->facts.events_armed = pp_cpu->facts.events_refused = pp_cpu->facts.events_closed = 0;
    int error = pp_cpu_threads_reserve();
    pp_cpu_perf_reserve(0);
    return error;
}

#define NEEDS_AN_EVENT()                                                                           \
    assert_int_equal(arm(), 0);                                                                    \
    if (slot.event < 0) {                                                                          \
        pp_cpu_engine_perf.disarm(&slot);                                                          \
        skip();                                                                                    \
    }

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static siginfo_t signal_of(int fd)
{
    siginfo_t info = {.si_signo = PP_SAMPLING_SIGNAL, .si_code = POLL_IN};
    info.si_fd = fd;
    return info;
}

static void the_descriptor_is_high_and_closed_on_exec(void **state)
{
    (void)state;
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    int lowest = dup(0);
    close(lowest);
    NEEDS_AN_EVENT();
    assert_true((rlim_t)slot.event >= (files.rlim_cur > 4096 ? 3072 : files.rlim_cur / 4 * 3));
    assert_int_equal(fcntl(slot.event, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(slot.event, F_GETSIG), PP_SAMPLING_SIGNAL);
    assert_false(is_open(lowest));
    int fd = slot.event;
    pp_cpu_engine_perf.disarm(&slot);
    assert_false(is_open(fd));
    assert_int_equal(slot.timer, -1);
    assert_int_equal(pp_cpu->facts.events_closed, 0);
}

static void signals_are_known_by_their_descriptor(void **state)
{
    (void)state;
    pp_cpu_slot *found = NULL;
    NEEDS_AN_EVENT();
    siginfo_t info = signal_of(slot.event);
    assert_true(pp_cpu_perf_owns(&info, &found));
    assert_ptr_equal(found, &slot);
    for (int code = SI_TKILL; code <= SI_USER; code++) {
        info.si_code = code;
        assert_false(pp_cpu_perf_owns(&info, &found));
    }
    static const int others[] = {-1, 0, 1 << 15, INT32_MAX};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        info = signal_of(others[i]);
        assert_false(pp_cpu_perf_owns(&info, &found));
    }
    info = signal_of(slot.event);
    pp_cpu_engine_perf.disarm(&slot);
    assert_true(pp_cpu_perf_owns(&info, &found)); /* a late one */
    assert_int_equal(pp_cpu_engine_perf.on_signal(found, &info), 0);
}

static void a_file_of_the_host_is_left_alone(void **state)
{
    (void)state;
    int ends[2];
    NEEDS_AN_EVENT();
    int fd = slot.event;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], fd), fd);
    pp_cpu_engine_perf.disarm(&slot);
    assert_true(is_open(fd));
    assert_int_equal(pp_cpu->facts.events_closed, 1);
    close(fd);

    /* Nor an event of another profiler. */
    NEEDS_AN_EVENT();
    pp_cpu_slot other = slot;
    assert_int_equal(arm(), 0);
    fd = other.event;
    assert_int_equal(dup2(slot.event, fd), fd);
    pp_cpu_engine_perf.disarm(&other);
    assert_true(is_open(fd));
    assert_int_equal(pp_cpu->facts.events_closed, 2);
    pp_cpu_engine_perf.disarm(&slot);
    close(fd);
    close(ends[0]);
    close(ends[1]);
}

static void a_child_closes_its_copy(void **state)
{
    (void)state;
    NEEDS_AN_EVENT();
    pid_t child = fork();
    if (child == 0) {
        int fd = slot.event;
        pp_cpu_perf_after_fork_in_child(&slot);
        _exit(is_open(fd) ? 1 : 0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is_open(slot.event));
    pp_cpu_engine_perf.disarm(&slot);
}

static void refusals_leave_the_timer(void **state)
{
    (void)state;
    pp_cpu_perf_reserve(-EACCES);
    assert_int_equal(arm(), 0);
    assert_true(slot.event < 0);
    assert_true(slot.timer >= 0);
    assert_int_equal(pp_cpu->facts.events_refused, 1);
    assert_int_equal(pp_cpu->facts.event_error, -EACCES);
    pp_cpu_engine_perf.disarm(&slot);

    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    struct rlimit few = {.rlim_cur = 16, .rlim_max = files.rlim_max};
    pp_cpu_perf_reserve(0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0); /* lowered since */
    assert_int_equal(arm(), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    assert_true(slot.event < 0);
    assert_true(slot.timer >= 0);
    assert_int_equal(pp_cpu->facts.events_refused, 2);
    pp_cpu_engine_perf.disarm(&slot);
}

static bool is_pending(void)
{
    pp_signal_mask pending = 0;
    pp_system_call(SYS_rt_sigpending, &pending, sizeof pending);
    return (pending & pp_signal_bit(PP_SAMPLING_SIGNAL)) != 0;
}

/* Until the signal is pending, or for so much CPU time. */
static void burn(int64_t ns)
{
    int64_t end = pp_task_cpu_ns(pp_task_self()) + ns;
    while (!is_pending() && pp_task_cpu_ns(pp_task_self()) < end) {
    }
}

static void nothing_is_pending_over_exec(void **state)
{
    (void)state;
    enum { MS = 1000 * 1000, LONG = 2000 * MS };
    const struct timespec at_once = {0};
    const pp_signal_mask ours = pp_signal_bit(PP_SAMPLING_SIGNAL);
    pp_signal_mask before = 0;
    pp_signals_block(&before);
    NEEDS_AN_EVENT();
    pp_cpu_engine_timers.disarm(&slot);
    pp_cpu_engine_perf.disarm(&slot);
    slot.first_ns = 0; /* due at once */
    pp_cpu->facts.period_ns = MS;
    assert_int_equal(pp_cpu_engine_perf.arm(&slot), 0);
    pp_cpu_engine_timers.disarm(&slot);
    assert_true(pp_cpu_perf_was_used());

    burn(LONG);
    assert_true(is_pending());
    pp_cpu_perf_pause(&slot);
    assert_false(is_pending());
    burn(20 * MS);
    assert_false(is_pending());
    pp_cpu_perf_resume(&slot); /* the exec failed */
    burn(LONG);
    assert_true(is_pending());

    /* Cancellation stays, whether or not the thread has an event. */
    pp_cpu_perf_pause(&slot);
    pp_system_call(SYS_tgkill, getpid(), pp_task_self(), PP_SAMPLING_SIGNAL);
    pp_cpu_perf_pause(&slot);
    assert_true(is_pending());
    pp_cpu_perf_pause(NULL);
    assert_true(is_pending());

    assert_int_equal(pp_system_call(SYS_rt_sigtimedwait, &ours, NULL, &at_once, sizeof ours),
                     PP_SAMPLING_SIGNAL);
    assert_false(is_pending());
    pp_cpu_engine_perf.disarm(&slot);
    pp_signals_restore(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_descriptor_is_high_and_closed_on_exec, set_up),
        cmocka_unit_test_setup(signals_are_known_by_their_descriptor, set_up),
        cmocka_unit_test_setup(a_file_of_the_host_is_left_alone, set_up),
        cmocka_unit_test_setup(a_child_closes_its_copy, set_up),
        cmocka_unit_test_setup(refusals_leave_the_timer, set_up),
        cmocka_unit_test_setup(nothing_is_pending_over_exec, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
