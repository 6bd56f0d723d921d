/* SPDX-License-Identifier: MIT
 *
 * test_host_timers.c: interval timers of the host stand still while a profile is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sys/host_timers.h"
#include "sys/tasks.h"

#include <signal.h>
#include <sys/time.h>

enum { MS = 1000 * 1000, LEFT_US = 20000, EVERY_US = 7000000, WORK_MS = 60 };

static void burn(int64_t ns)
{
    int64_t end = pp_task_cpu_ns(pp_task_self()) + ns;
    while (pp_task_cpu_ns(pp_task_self()) < end) {
    }
}

/* SIGPROF and SIGVTALRM have their default actions: one of them would end the test. */
static void they_stand_still_and_go_on(void **state)
{
    static const unsigned char timers[] = {ITIMER_PROF, ITIMER_VIRTUAL};
    (void)state;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        const struct itimerval once = {.it_interval = {.tv_sec = EVERY_US / 1000000},
                                       .it_value = {.tv_usec = LEFT_US}};
        const struct itimerval off = {.it_value = {.tv_sec = 0}};
        struct itimerval now;
        pp_host_timers held;
        sigset_t mask;
        pp_host_timers_hold(&held);
        pp_host_timers_release(&held); /* none runs */
        assert_int_equal(setitimer(timers[i], &once, NULL), 0);
        pp_host_timers_hold(&held);
        burn((int64_t)WORK_MS * MS);
        assert_int_equal(getitimer(timers[i], &now), 0);
        assert_int_equal(now.it_value.tv_usec, 0);
        pthread_sigmask(SIG_BLOCK, NULL, &mask);
        assert_int_equal(sigismember(&mask, SIGTERM), 1);
        pp_host_timers_release(&held);
        assert_int_equal(setitimer(timers[i], &off, &now), 0);
        assert_in_range(now.it_value.tv_usec, 1,
                        LEFT_US + 10000); /* the kernel rounds up to ticks */
        assert_int_equal(now.it_interval.tv_sec, EVERY_US / 1000000);
        pthread_sigmask(SIG_BLOCK, NULL, &mask);
        assert_int_equal(sigismember(&mask, SIGTERM), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_stand_still_and_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
