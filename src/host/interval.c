/* SPDX-License-Identifier: MIT
 *
 * interval.c: the thread that waits for the next time, or until it is cancelled. Once a second it
 * checks whether it is the last thread.
 *
 * Zone: NORMAL.
 * Owns: the thread.
 * Tested by: e2e.dumps
 */
#include "host/interval.h"

#include "arch/system_call.h"
#include "base/shown_as.h"
#include "host/deadline.h"
#include "host/thread_life.h"
#include "sys/clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

static struct {
    uint32_t on;
    pthread_t thread;
    uint64_t interval_ns;
    void (*work)(void);
} state;

static bool is_on(void)
{
    return __atomic_load_n(&state.on, __ATOMIC_ACQUIRE) != 0;
}

static void wait_until(uint64_t ns)
{
    const struct timespec at = {.tv_sec = (time_t)(ns / PP_NS_PER_S),
                                .tv_nsec = (long)(ns % PP_NS_PER_S)};
    pp_system_call(SYS_futex, &state.on, FUTEX_WAIT_BITSET_PRIVATE, 1, &at, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}

/* The first time after `now_ns`. */
static uint64_t next_after(uint64_t next_ns, uint64_t now_ns)
{
    uint64_t missed = now_ns >= next_ns ? (now_ns - next_ns) / state.interval_ns + 1 : 0;
    return next_ns + missed * state.interval_ns;
}

static void *work_again(void *unused)
{
    pp_thread_leave();
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    uint64_t next_ns = now_ns + state.interval_ns;
    while (is_on() && !pp_deadline_is_alone()) {
        uint64_t look_ns = now_ns + PP_NS_PER_S;
        wait_until(look_ns < next_ns ? look_ns : next_ns);
        now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        if (is_on() && now_ns >= next_ns) {
            state.work();
            now_ns = pp_clock_ns(CLOCK_MONOTONIC);
            next_ns = next_after(next_ns, now_ns);
        }
    }
    return unused;
}

PP_NOT_SHOWN(work_again);

/* The thread blocks all signals, so that none of the program's signals is delivered to it. */
static int create_thread(void)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&state.thread, NULL, work_again, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_setname_np(state.thread, "libpprof");
    }
    return -error;
}

int pp_interval_begin(uint64_t interval_ns, void (*work)(void))
{
    uint32_t off = 0;
    if (!__atomic_compare_exchange_n(&state.on, &off, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        return -EBUSY;
    }
    state.interval_ns = interval_ns;
    state.work = work;
    int error = create_thread();
    if (error != 0) {
        __atomic_store_n(&state.on, 0, __ATOMIC_RELEASE);
    }
    return error;
}

void pp_interval_cancel(void)
{
    if (__atomic_exchange_n(&state.on, 0, __ATOMIC_ACQ_REL) != 0) {
        pp_system_call(SYS_futex, &state.on, FUTEX_WAKE_PRIVATE, INT_MAX);
        pthread_join(state.thread, NULL);
    }
}

void pp_interval_after_fork(void)
{
    state.on = 0;
}
