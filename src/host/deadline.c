/* SPDX-License-Identifier: MIT
 *
 * deadline.c: the thread that waits for the end of the duration, or until it is cancelled. Once a
 * second it checks whether it is the last thread.
 *
 *   IDLE --(begin)--> WAITS --(it is time: calls over())--> OVER ---(begin or cancel: end)--> IDLE
 *                     WAITS --(cancel: wakes it)----> CANCELLED ---(cancel: end)-----------> IDLE
 *
 * Zone: NORMAL.
 * Owns: the thread.
 * Tested by: e2e.cpprof_record_duration
 */
#include "host/deadline.h"

#include "host/pausable.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/doorbell.h"
#include "sys/own_threads.h"
#include "sys/task_state.h"
#include "sys/tasks.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { IDLE, WAITS, OVER, CANCELLED };

static struct {
    uint32_t state;
    pp_doorbell bell;
    uint64_t at_ns;
    void (*over)(void);
} deadline;

static bool change(uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&deadline.state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static void look_at_first(void *of_result)
{
    int folder = pp_task_open();
    *(bool *)of_result = folder >= 0 && pp_task_letter(folder, pp_task_process()) == 'Z';
    pp_task_close(folder);
}

/* The kernel still lists the first thread then. While a thread acts for another, look again later. */
bool pp_deadline_is_alone(void)
{
    if (pp_tasks_count_all() != 1 + pp_own_threads_count()) {
        return false;
    }
    bool alone = false;
    pp_apart(look_at_first, &alone);
    return alone;
}

static bool is_due(uint64_t now_ns)
{
    return __atomic_load_n(&deadline.state, __ATOMIC_ACQUIRE) != WAITS ||
           now_ns >= deadline.at_ns || pp_deadline_is_alone();
}

static bool wait_and_call(void *unused)
{
    (void)unused;
    for (;;) {
        uint32_t heard = pp_doorbell_heard(&deadline.bell);
        uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        uint64_t next_ns = now_ns + PP_NS_PER_S;
        if (is_due(now_ns)) {
            break;
        }
        if (pp_pausables_pause()) {
            return false;
        }
        pp_doorbell_wait(&deadline.bell, heard,
                         next_ns < deadline.at_ns ? next_ns : deadline.at_ns);
    }
    if (change(WAITS, OVER)) {
        deadline.over();
    }
    return true;
}

static void wake(void *unused)
{
    (void)unused;
    pp_doorbell_ring(&deadline.bell);
}

static void lose(void *unused)
{
    (void)unused;
    change(WAITS, IDLE);
}

static const pp_pausable waiter = {
    .name = "libpprof", .run = wait_and_call, .wake = wake, .lost = lose, .context = &deadline};

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
    int error = pp_pausable_begin(&waiter);
    if (error != 0) {
        __atomic_store_n(&deadline.state, IDLE, __ATOMIC_RELEASE);
    }
    return error;
}

void pp_deadline_cancel(void)
{
    if (__atomic_load_n(&deadline.state, __ATOMIC_ACQUIRE) == IDLE) {
        return;
    }
    change(WAITS, CANCELLED);
    pp_pausable_end(&deadline);
    if (!change(OVER, IDLE)) {
        change(CANCELLED, IDLE);
    }
}

void pp_deadline_after_fork(void)
{
    deadline.state = IDLE;
}
