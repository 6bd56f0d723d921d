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

#include "arch/shown_as.h"
#include "host/deadline.h"
#include "host/pausable.h"
#include "sys/clock.h"
#include "sys/doorbell.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

static struct {
    uint32_t on;
    pp_doorbell bell;
    uint64_t interval_ns;
    uint64_t next_ns; /* when the work is due */
    void (*work)(void);
} state;

static bool is_on(void)
{
    return __atomic_load_n(&state.on, __ATOMIC_ACQUIRE) != 0;
}

/* The first time after `now_ns`. */
static uint64_t next_after(uint64_t next_ns, uint64_t now_ns)
{
    uint64_t missed = now_ns >= next_ns ? (now_ns - next_ns) / state.interval_ns + 1 : 0;
    return next_ns + missed * state.interval_ns;
}

static void work_if_due(void)
{
    if (pp_clock_ns(CLOCK_MONOTONIC) >= state.next_ns) {
        state.work();
        state.next_ns = next_after(state.next_ns, pp_clock_ns(CLOCK_MONOTONIC));
    }
}

static bool work_again(void *unused)
{
    (void)unused;
    for (;;) {
        uint32_t heard = pp_doorbell_heard(&state.bell);
        if (!is_on() || pp_deadline_is_alone()) {
            return true;
        }
        if (pp_pausables_pause()) {
            return false;
        }
        uint64_t look_ns = pp_clock_ns(CLOCK_MONOTONIC) + PP_NS_PER_S;
        pp_doorbell_wait(&state.bell, heard, look_ns < state.next_ns ? look_ns : state.next_ns);
        if (is_on()) {
            work_if_due();
        }
    }
}

PP_NOT_SHOWN(work_again);

static void wake(void *unused)
{
    (void)unused;
    pp_doorbell_ring(&state.bell);
}

static void lose(void *unused)
{
    (void)unused;
    __atomic_store_n(&state.on, 0, __ATOMIC_RELEASE);
}

static const pp_pausable worker = {
    .name = "libpprof", .run = work_again, .wake = wake, .lost = lose, .context = &state};

int pp_interval_begin(uint64_t interval_ns, void (*work)(void))
{
    uint32_t off = 0;
    if (!__atomic_compare_exchange_n(&state.on, &off, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        return -EBUSY;
    }
    state.interval_ns = interval_ns;
    state.work = work;
    state.next_ns = pp_clock_ns(CLOCK_MONOTONIC) + interval_ns;
    int error = pp_pausable_begin(&worker);
    if (error != 0) {
        __atomic_store_n(&state.on, 0, __ATOMIC_RELEASE);
    }
    return error;
}

void pp_interval_cancel(void)
{
    if (__atomic_exchange_n(&state.on, 0, __ATOMIC_ACQ_REL) != 0) {
        pp_pausable_end(&state);
    }
}

void pp_interval_after_fork(void)
{
    state.on = 0;
}
