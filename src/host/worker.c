/* SPDX-License-Identifier: MIT
 *
 * worker.c: see worker.h.
 *
 *   IDLE --(begin)--> WAITS --(the only call is due)-----> OVER --(begin, end: joins)--> IDLE
 *                     WAITS --(end: wakes it)--------> CANCELLED --(end: joins)--------> IDLE
 *
 * Zone: NORMAL.
 * Tested by: e2e.cpprof_record_duration, e2e.dumps, e2e.options
 */
#include "host/worker.h"

#include "arch/shown_as.h"
#include "base/random.h"
#include "host/pausable.h"
#include "modules/loader_use.h"
#include "sys/clock.h"
#include "sys/own_threads.h"
#include "sys/tasks.h"
#include "threads/thread_snapshot.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

enum { IDLE, WAITS, OVER, CANCELLED };

static bool change(pp_worker *w, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&w->state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static bool is_in(const pp_worker *w, uint32_t state)
{
    return __atomic_load_n(&w->state, __ATOMIC_ACQUIRE) == state;
}

/* While a thread acts for another, look again later. */
bool pp_worker_is_alone(void)
{
    return pp_tasks_count_all() == 1 + pp_own_threads_count() && pp_first_thread_has_ended() > 0;
}

/* Looks once a second. */
static bool is_alone(pp_worker *w, uint64_t now_ns)
{
    if (now_ns < w->look_ns) {
        return false;
    }
    w->look_ns = now_ns + PP_NS_PER_S;
    return pp_worker_is_alone();
}

static bool is_once(const pp_worker *w)
{
    return w->interval_ns == 0 && w->next_ns != UINT64_MAX;
}

/* The first time after `now_ns`. */
static uint64_t next_after(pp_worker *w, uint64_t now_ns)
{
    if (w->random != 0) {
        w->paced = __atomic_load_n(&w->pace, __ATOMIC_ACQUIRE);
        uint64_t mean_ns = w->interval_ns * w->paced;
        return now_ns + mean_ns / 2 + pp_random_below(&w->random, mean_ns);
    }
    uint64_t missed = now_ns >= w->next_ns ? (now_ns - w->next_ns) / w->interval_ns + 1 : 0;
    return w->next_ns + missed * w->interval_ns;
}

/* True if there was something to do. */
static bool work_if_due(pp_worker *w, uint64_t now_ns)
{
    if (__atomic_load_n(&w->rung, __ATOMIC_ACQUIRE) != w->answered) {
        w->answered++;
        w->work();
        return true;
    }
    if (now_ns < w->next_ns) {
        return false;
    }
    if (!is_once(w)) {
        w->work();
        w->next_ns = next_after(w, pp_clock_ns(CLOCK_MONOTONIC));
    } else if (change(w, WAITS, OVER)) {
        w->work();
    }
    return true;
}

/* Whether the pace is quicker now than when the time of the next call was chosen. */
static bool has_to_hurry(const pp_worker *w)
{
    return __atomic_load_n(&w->pace, __ATOMIC_ACQUIRE) < w->paced;
}

static void wait_for_bell(pp_worker *w, uint32_t heard)
{
    pp_loader_go_out();
    pp_doorbell_wait(&w->bell, heard, w->look_ns < w->next_ns ? w->look_ns : w->next_ns);
    pp_loader_go_in();
}

/* True: it is over. False: it pauses. */
static bool attend(pp_worker *w)
{
    while (is_in(w, WAITS)) {
        uint32_t heard = pp_doorbell_heard(&w->bell);
        uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        if (pp_pausables_pause()) {
            return false;
        }
        if (is_alone(w, now_ns)) {
            if (!is_once(w)) {
                return true;
            }
            now_ns = w->next_ns;
        }
        if (has_to_hurry(w)) {
            uint64_t sooner_ns = next_after(w, now_ns);
            w->next_ns = sooner_ns < w->next_ns ? sooner_ns : w->next_ns;
        }
        if (!work_if_due(w, now_ns)) {
            wait_for_bell(w, heard);
        }
    }
    return true;
}

static bool run(void *of_worker)
{
    pp_worker *w = of_worker;
    bool is_over = attend(w);
    if (w->leaves != NULL) {
        w->leaves();
    }
    return is_over;
}

PP_NOT_SHOWN(run);

static void wake(void *of_worker)
{
    pp_doorbell_ring(&((pp_worker *)of_worker)->bell);
}

static void lose(void *of_worker)
{
    change(of_worker, WAITS, IDLE);
}

static int begin(pp_worker *w, uint64_t first_ns, uint64_t interval_ns)
{
    const pp_pausable thread = {.name = "libpprof",
                                .avoids_libc = w->avoids_libc,
                                .run = run,
                                .wake = wake,
                                .lost = lose,
                                .context = w};
    if (is_in(w, OVER)) {
        pp_worker_end(w);
    }
    if (!change(w, IDLE, WAITS)) {
        return -EBUSY;
    }
    w->next_ns = first_ns;
    w->interval_ns = interval_ns;
    w->look_ns = 0;
    w->pace = w->paced = 1;
    int error = pp_pausable_begin(&thread);
    if (error != 0) {
        __atomic_store_n(&w->state, IDLE, __ATOMIC_RELEASE);
    }
    return error;
}

int pp_worker_begin_at(pp_worker *worker, uint64_t at_ns)
{
    return begin(worker, at_ns, 0);
}

int pp_worker_begin_each(pp_worker *worker, uint64_t interval_ns)
{
    return begin(worker, pp_clock_ns(CLOCK_MONOTONIC) + interval_ns, interval_ns);
}

int pp_worker_begin_at_random(pp_worker *worker, uint64_t mean_ns)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    worker->random = now_ns | 1;
    return begin(worker, now_ns + pp_random_below(&worker->random, mean_ns), mean_ns);
}

int pp_worker_begin_rung(pp_worker *worker)
{
    return begin(worker, UINT64_MAX, 0);
}

void pp_worker_ring(pp_worker *worker)
{
    __atomic_add_fetch(&worker->rung, 1, __ATOMIC_RELEASE);
    pp_doorbell_ring(&worker->bell);
}

void pp_worker_end(pp_worker *worker)
{
    if (is_in(worker, IDLE)) {
        return;
    }
    change(worker, WAITS, CANCELLED);
    pp_pausable_end(worker);
    if (!change(worker, OVER, IDLE)) {
        change(worker, CANCELLED, IDLE);
    }
}

void pp_worker_after_fork(pp_worker *worker)
{
    worker->state = IDLE;
}
