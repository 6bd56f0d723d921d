/* SPDX-License-Identifier: MIT
 *
 * cpu_timers.c: makes and sets the timers of the engine `timer`.
 *
 * A timer's signal has the address of the thread's slot, so the handler needs no look-up.
 *
 * Zone: SIGNAL (system calls).
 * Locks: callers hold the lock of cpu_threads.c, but those of pp_cpu_timers_rest(), which sets the timer of the calling
 *        thread: if a stop has deleted it, the call fails, since the kernel counts on before it gives a number again.
 * Owns: the timers.
 * Tested by: e2e.shares, e2e.threads, unit.cpu_perf
 */
#include "kinds/cpu/cpu_timers.h"

#include "arch/system_call.h"
#include "sys/clock.h"
#include "sys/sampling_signal.h"
#include "sys/tasks.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static struct {
    uint32_t cap, count;
} timers;

void pp_cpu_timers_set_cap(uint32_t cap)
{
    timers.cap = cap;
}

void pp_cpu_timers_after_fork_in_child(void)
{
    timers.count = 0;
}

static int create_timer(pp_cpu_slot *slot)
{
    if (timers.count >= timers.cap) {
        return -EAGAIN;
    }
    int id = -1;
    int error = pp_task_timer_create(slot->tid, pp_task_cpu_clock(slot->tid), PP_SAMPLING_SIGNAL,
                                     slot, &id);
    if (error != 0) {
        return error;
    }
    slot->timer = id;
    timers.count++;
    return 0;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / PP_NS_PER_S),
                             .tv_nsec = (long)(ns % PP_NS_PER_S)};
}

static int set_timer(const pp_cpu_slot *slot, uint64_t next_ns)
{
    struct itimerspec when = {.it_value = timespec_of(next_ns),
                              .it_interval = timespec_of(pp_cpu->facts.period_ns)};
    return (int)pp_system_call(SYS_timer_settime, slot->timer, TIMER_ABSTIME, &when, NULL);
}

static void delete_timer(pp_cpu_slot *slot)
{
    if (slot->timer >= 0) {
        pp_system_call(SYS_timer_delete, slot->timer);
        slot->timer = -1;
        timers.count--;
    }
}

/* Returns the number of the first cut that gets a signal: the next one, or, if the thread is held,
 * the first after the hold. */
static uint64_t first_cut(pp_cpu_slot *slot)
{
    uint64_t cut = pp_cpu_due(slot, slot->held_until_ns);
    if (cut <= slot->counted) {
        return slot->counted;
    }
    slot->by_clock = true;
    return cut;
}

static int arm_timer(pp_cpu_slot *slot)
{
    int error = create_timer(slot);
    if (error == 0) {
        error = set_timer(slot, slot->first_ns + first_cut(slot) * pp_cpu->facts.period_ns);
    }
    if (error != 0) {
        delete_timer(slot);
    }
    return error == -EINVAL ? -ESRCH : error;
}

static void hold_timer(pp_cpu_slot *slot, uint64_t until_ns)
{
    slot->by_clock = true;
    set_timer(slot, slot->first_ns + pp_cpu_due(slot, until_ns) * pp_cpu->facts.period_ns);
}

void pp_cpu_timers_rest(pp_cpu_slot *slot, uint64_t now_ns, uint64_t took_ns)
{
    uint64_t least_ns = took_ns < slot->slow_ns ? took_ns : slot->slow_ns;
    slot->slow_ns = pp_cpu_handler_ns(took_ns);
    if (least_ns > pp_cpu->facts.period_ns / 2) {
        slot->rest_until_ns = now_ns + least_ns;
        hold_timer(slot, slot->held_until_ns > slot->rest_until_ns ? slot->held_until_ns
                                                                   : slot->rest_until_ns);
    }
}

static uint64_t on_timer_signal(pp_cpu_slot *slot, const siginfo_t *info)
{
    if (!slot->by_clock) {
        return 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
    }
    slot->seen_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return slot->seen_ns < slot->rest_until_ns ? 0 : pp_cpu_owed(slot, slot->seen_ns);
}

/*
 * Lets the thread go on if handlers are slow, since the next signal may be pending already: without a rest the thread
 * would execute one instruction between two samples. A handler that seems slow may have waited; from then on
 * on_timer_signal() reads the CPU clock, which says what the next one took.
 */
static void rest_if_slow(pp_cpu_slot *slot, uint64_t begin_ns, bool may_be_slow)
{
    if (!may_be_slow || pp_clock_ns(CLOCK_MONOTONIC) - begin_ns <= pp_cpu->facts.period_ns / 2) {
        slot->slow_ns /= 2;
    } else if (slot->by_clock) {
        uint64_t now_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        pp_cpu_timers_rest(slot, now_ns, now_ns - slot->seen_ns);
    } else {
        slot->by_clock = true;
    }
}

const pp_cpu_engine pp_cpu_engine_timers = {
    .name = "timer",
    .arm = arm_timer,
    .disarm = delete_timer,
    .hold = hold_timer,
    .on_signal = on_timer_signal,
    .after_sample = rest_if_slow,
};
