/* SPDX-License-Identifier: MIT
 *
 * deadline.c: the thread that waits for the end of the duration, or until it is cancelled. Once a
 * second it checks whether it is the last thread.
 *
 *   IDLE --(begin)--> WAITS --(it is time: calls over())--> OVER ---(begin or cancel: join)--> IDLE
 *                     WAITS --(cancel: wakes it)----> CANCELLED ---(cancel: join)-----------> IDLE
 *
 * Zone: NORMAL.
 * Owns: the thread.
 * Tested by: e2e.cpprof_record_duration
 */
#include "host/deadline.h"

#include "arch/system_call.h"
#include "host/thread_life.h"
#include "sys/clock.h"
#include "sys/own_threads.h"
#include "sys/task_state.h"
#include "sys/tasks.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { IDLE, WAITS, OVER, CANCELLED };

static struct {
    uint32_t state;
    pthread_t thread;
    uint64_t at_ns;
    void (*over)(void);
} deadline;

static bool change(uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&deadline.state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/* The kernel still lists the first thread then. */
bool pp_deadline_is_alone(void)
{
    if (pp_tasks_count() != 1 + pp_own_threads_count()) {
        return false;
    }
    int folder = pp_task_open();
    bool alone = folder >= 0 && pp_task_letter(folder, pp_task_process()) == 'Z';
    if (folder >= 0) {
        pp_task_close(folder);
    }
    return alone;
}

static void wait_until(uint64_t ns)
{
    const struct timespec at = {.tv_sec = (time_t)(ns / PP_NS_PER_S),
                                .tv_nsec = (long)(ns % PP_NS_PER_S)};
    pp_system_call(SYS_futex, &deadline.state, FUTEX_WAIT_BITSET_PRIVATE, WAITS, &at, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}

static void *wait_and_call(void *unused)
{
    pp_thread_leave();
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    while (__atomic_load_n(&deadline.state, __ATOMIC_ACQUIRE) == WAITS && now_ns < deadline.at_ns &&
           !pp_deadline_is_alone()) {
        uint64_t next_ns = now_ns + PP_NS_PER_S;
        wait_until(next_ns < deadline.at_ns ? next_ns : deadline.at_ns);
        now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    }
    if (change(WAITS, OVER)) {
        deadline.over();
    }
    return unused;
}

/* The thread blocks all signals, so that none of the program's signals is delivered to it. */
static int create_thread(void)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&deadline.thread, NULL, wait_and_call, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_setname_np(deadline.thread, "libpprof");
    }
    return -error;
}

int pp_deadline_begin(uint64_t at_ns, void (*over)(void))
{
    if (__atomic_load_n(&deadline.state, __ATOMIC_ACQUIRE) == OVER) {
        pp_deadline_cancel();
    }
    if (!change(IDLE, WAITS)) {
        return -EBUSY;
    }
    deadline.at_ns = at_ns;
    deadline.over = over;
    int error = create_thread();
    if (error != 0) {
        __atomic_store_n(&deadline.state, IDLE, __ATOMIC_RELEASE);
    }
    return error;
}

void pp_deadline_cancel(void)
{
    if (__atomic_load_n(&deadline.state, __ATOMIC_ACQUIRE) == IDLE ||
        pthread_equal(deadline.thread, pthread_self())) {
        return;
    }
    if (change(WAITS, CANCELLED)) {
        pp_system_call(SYS_futex, &deadline.state, FUTEX_WAKE_PRIVATE, INT_MAX);
    }
    if (change(OVER, IDLE) || change(CANCELLED, IDLE)) {
        pthread_join(deadline.thread, NULL);
    }
}

void pp_deadline_after_fork(void)
{
    deadline.state = IDLE;
}
