/* SPDX-License-Identifier: MIT
 *
 * cpu_perf.c: opens one perf event for each thread, and keeps it going.
 *
 *   perf_event_open(task clock, exclude_kernel) -> a high descriptor -> F_SETOWN_EX: this thread,
 *   F_SETSIG: the sampling signal, O_ASYNC -> one overflow, at a random time (POLL_HUP)
 *       -> the handler sets the period and allows BATCH more
 *       -> overflows (POLL_IN), the last of the batch (POLL_HUP) -> the handler allows more -> ...
 *
 * The kernel queues each of these signals, also while the thread blocks them past libc. So an event
 * stops after a batch until the handler allows another. The queue, which all processes of the user
 * share (RLIMIT_SIGPENDING), stays short. If it is full, the kernel sends SIGIO instead
 * (host/dispositions.c).
 *
 * No ring buffer is mapped, because the profiler needs only the signal of an overflow. So the
 * kernel charges nothing to RLIMIT_MEMLOCK.
 *
 * Events ignore time inside the kernel (exclude_kernel). A signal that is raised there would end a
 * blocking write early; a signal that is raised in user code is delivered before the next call
 * begins. The time inside the kernel is not lost. The weight of a sample is what has become due on
 * the thread's CPU clock since the last sample (cpu_session.h, Accounting), and the timers, which
 * signal on the way out of the kernel, go on beside the events.
 *
 * The host can close a descriptor at any time (close_range, daemon), and its number may then be a
 * file of the host. So is_ours() checks a descriptor before its use: it must send the sampling
 * signal to the slot's thread, and must have the number that the kernel gave to the event. A thread
 * that has lost its event still has its timer.
 *
 * Zone: SIGNAL.
 * Locks: the caller's, see cpu_perf.h.
 * Owns: the events.
 */
#include "kinds/cpu/cpu_perf.h"

#include "arch/system_call.h"
#include "kinds/cpu/cpu_timers.h"
#include "sys/clock.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

enum {
    /* Descriptors are below this number, since the kernel copies the table of descriptors at each
     * fork. */
    MAX_DESCRIPTOR = 1 << 15,
    /* This is above the numbers of select(), and above what most programs ever open. */
    FIRST_DESCRIPTOR = 3072,
    MIN_EVENT_PERIOD_NS = 100 * 1000, /* 10 kHz; more samples cost more than they show */
    BATCH = 16,                       /* the cost of four system calls for 16 samples is not seen */
    SHARE = 4,
    REFUSED = -2 /* in slot->event: the refusal is counted already */
};

static struct {
    uint32_t first_descriptor, event_cap, events;
    bool used;          /* see pp_cpu_perf_was_used() */
    rlim_t pending_cap; /* so many events may have a batch in the signal queue */
    /* An entry stays when its descriptor is closed, since a late signal of the event may follow. */
    pp_cpu_slot *by_descriptor[MAX_DESCRIPTOR];
} all;

void pp_cpu_perf_reserve(int refused)
{
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    uint64_t limit = files.rlim_cur < MAX_DESCRIPTOR ? files.rlim_cur : MAX_DESCRIPTOR;
    all.event_cap = (uint32_t)(limit / 4);
    struct rlimit pending = {0};
    getrlimit(RLIMIT_SIGPENDING, &pending);
    all.pending_cap = pending.rlim_cur / 4 / BATCH;
    all.first_descriptor = (uint32_t)(limit - all.event_cap);
    if (all.first_descriptor > FIRST_DESCRIPTOR) {
        all.first_descriptor = FIRST_DESCRIPTOR;
    }
    pp_cpu->events_off = refused != 0;
    pp_cpu->facts.event_error = refused;
}

/* ---- one event ---- */

static bool read_id(int fd, uint64_t *id)
{
    return pp_system_call(SYS_ioctl, fd, PERF_EVENT_IOC_ID, id) == 0;
}

/* Whether the slot's descriptor is still its event. The kernel names owner 0 once the thread is
 * gone, and in another process id namespace. */
static bool is_ours(const pp_cpu_slot *slot)
{
    struct f_owner_ex owner = {.type = F_OWNER_PGRP};
    uint64_t id = 0;
    return pp_system_call(SYS_fcntl, slot->event, F_GETSIG) == PP_SAMPLING_SIGNAL &&
           pp_system_call(SYS_fcntl, slot->event, F_GETOWN_EX, &owner) == 0 &&
           owner.type == F_OWNER_TID && (owner.pid == slot->tid || owner.pid == 0) &&
           read_id(slot->event, &id) && id == slot->event_id;
}

static uint64_t event_period_ns(void)
{
    return pp_cpu->facts.period_ns > MIN_EVENT_PERIOD_NS ? pp_cpu->facts.period_ns
                                                         : MIN_EVENT_PERIOD_NS;
}

/*
 * Each overflow comes a quarter of a period after its sample is due. At the due time itself, the
 * jitter of the two clocks would make weights of 0 and 2.
 *
 * Where the delay ends inside the kernel there is no overflow (exclude_kernel), and the same delay
 * begins again. So it is no shorter than a period may be: at the kernel's own limit, 10 us, the
 * interrupts left some threads of a virtual machine no time for seconds.
 */
static uint64_t first_delay_ns(const pp_cpu_slot *slot)
{
    int64_t now = pp_task_cpu_ns(slot->tid);
    uint64_t at_ns = slot->first_ns + event_period_ns() / 4;
    uint64_t now_ns = now > 0 ? (uint64_t)now : 0;
    return at_ns > now_ns + MIN_EVENT_PERIOD_NS ? at_ns - now_ns : MIN_EVENT_PERIOD_NS;
}

/*
 * Moves the event to a number that the host does not use. Returns the new descriptor, or -errno,
 * and stores the event's number in *id. The numbers are compared, since the host, which may close
 * any descriptor at any time, may have opened a file of its own in between.
 */
static int move_up(int low, uint64_t *id)
{
    uint64_t low_id = 0;
    bool known = read_id(low, &low_id);
    long high = pp_system_call(SYS_fcntl, low, F_DUPFD_CLOEXEC, all.first_descriptor);
    if (known && (high < 0 || (read_id((int)high, id) && *id == low_id))) {
        pp_system_call(SYS_close, low);
    } else if (high >= 0) {
        pp_system_call(SYS_close, high);
        high = -EBADF;
    }
    if (high >= MAX_DESCRIPTOR) {
        pp_system_call(SYS_close, high);
        high = -EMFILE;
    }
    return high == -EINVAL ? -EMFILE : (int)high; /* EINVAL: the limit is below first_descriptor */
}

static long direct_signals(const pp_cpu_slot *slot, int fd)
{
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = slot->tid};
    long error = pp_system_call(SYS_fcntl, fd, F_SETOWN_EX, &owner);
    if (error == 0) {
        error = pp_system_call(SYS_fcntl, fd, F_SETSIG, PP_SAMPLING_SIGNAL);
    }
    if (error == 0) {
        error = pp_system_call(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK);
    }
    return error;
}

/*
 * Opens the slot's event. The event has one overflow, and stops. So if the thread blocks the
 * signal, it does not pay for overflows at a short period. If the slot is held, a timer signal
 * starts the event (on_signal).
 */
static int open_event(pp_cpu_slot *slot)
{
    struct perf_event_attr event;
    memset(&event, 0, sizeof event);
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_TASK_CLOCK;
    event.sample_period = first_delay_ns(slot);
    event.disabled = 1;
    event.exclude_kernel = 1;
    event.exclude_hv = 1;
    if (all.events >= all.event_cap) {
        return -EMFILE;
    }
    if (all.events >= all.pending_cap) {
        return -EAGAIN;
    }
    long low = pp_system_call(SYS_perf_event_open, &event, slot->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (low < 0) {
        return (int)low;
    }
    uint64_t id = 0;
    int fd = move_up((int)low, &id);
    if (fd < 0) {
        return fd;
    }
    slot->event_id = id;
    __atomic_store_n(&all.used, true, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->event, fd, __ATOMIC_RELAXED);
    __atomic_store_n(&all.by_descriptor[fd], slot, __ATOMIC_RELEASE);
    long error = direct_signals(slot, fd);
    if (error == 0 && slot->held_until_ns == 0) {
        error = pp_system_call(SYS_ioctl, fd, PERF_EVENT_IOC_REFRESH, 1);
    }
    if (error != 0) {
        pp_system_call(SYS_close, fd);
        slot->event = -1;
        return (int)error;
    }
    all.events++;
    return 0;
}

/* The shortest period at which handlers take at most 1/SHARE of the thread's time. */
static uint64_t bearable_period_ns(const pp_cpu_slot *slot)
{
    uint64_t least_ns = (uint64_t)slot->slowest_ns * SHARE;
    uint64_t period_ns = event_period_ns();
    return least_ns > period_ns ? least_ns : period_ns;
}

/* Allows the next batch: after the first overflow, after the last one of each batch, and when the
 * hold of a slot is over. */
static void keep_going(pp_cpu_slot *slot)
{
    uint64_t period_ns = bearable_period_ns(slot);
    slot->slowest_ns = 0;
    if (is_ours(slot)) {
        pp_system_call(SYS_ioctl, slot->event, PERF_EVENT_IOC_PERIOD, &period_ns);
        pp_system_call(SYS_ioctl, slot->event, PERF_EVENT_IOC_REFRESH, BATCH);
    }
}

/*
 * Sets a longer period if the handler was slow. The event runs while the handler does. Where walks
 * are slow (deep stacks of code without unwind information) the event would overflow again before
 * the handler ends, and the thread would make no progress. The longer period takes effect at once,
 * and stays until the next batch.
 */
static void stretch_if_slow(pp_cpu_slot *slot, uint64_t begin_ns, bool may_be_slow)
{
    (void)may_be_slow; /* at its short periods any walk may be */
    if ((pp_clock_ns(CLOCK_MONOTONIC) - begin_ns) * SHARE <= event_period_ns()) {
        slot->slow_ns /= 2;
        return;
    }
    uint64_t now_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t took_ns = now_ns - slot->seen_ns; /* without waits */
    pp_cpu_timers_rest(slot, now_ns, took_ns);
    if (took_ns > slot->slowest_ns) {
        slot->slowest_ns = pp_cpu_handler_ns(took_ns);
        uint64_t period_ns = bearable_period_ns(slot);
        if (slot->event >= 0 && is_ours(slot)) {
            pp_system_call(SYS_ioctl, slot->event, PERF_EVENT_IOC_PERIOD, &period_ns);
        }
    }
}

/* ---- the engine ---- */

/* Whether another thread's event would be refused for the same reason. */
static bool is_final(int error)
{
    return error != -EMFILE && error != -ENFILE && error != -ENOMEM && error != -EBADF &&
           error != -EBUSY && error != -EAGAIN;
}

static int arm(pp_cpu_slot *slot)
{
    int timer_error = pp_cpu_engine_timers.arm(slot);
    int event_error = pp_cpu->events_off ? pp_cpu->facts.event_error : open_event(slot);
    if (event_error == 0) {
        pp_cpu->facts.events_armed++;
        return 0;
    }
    if (event_error != -ESRCH) { /* ESRCH: the thread has ended meanwhile */
        pp_cpu->facts.events_refused += slot->event != REFUSED;
        slot->event = REFUSED;
        pp_cpu->facts.event_error = event_error;
        pp_cpu->events_off = is_final(event_error);
    }
    return timer_error;
}

void pp_cpu_perf_recount(const pp_cpu_slot *slot)
{
    pp_cpu->facts.events_refused -= slot->event == REFUSED;
}

static void disarm(pp_cpu_slot *slot)
{
    pp_cpu_engine_timers.disarm(slot);
    if (slot->event < 0) {
        return;
    }
    if (is_ours(slot)) {
        /* Disabled first: a child of the host may have a copy, which keeps the event alive. */
        pp_system_call(SYS_ioctl, slot->event, PERF_EVENT_IOC_DISABLE, 0);
        pp_system_call(SYS_close, slot->event);
    } else {
        pp_cpu->facts.events_closed++;
    }
    slot->event = -1;
    all.events--;
}

/* The signal of the event or of the timer that comes first takes the whole weight that is due.
 * Often the other one finds 0. */
static uint64_t on_signal(pp_cpu_slot *slot, const siginfo_t *info)
{
    bool is_of_event = info->si_code != SI_TIMER;
    if (is_of_event && (slot->tid != pp_task_self() || slot->event != info->si_fd)) {
        return 0; /* a late signal of an event whose descriptor belongs to another thread now */
    }
    uint64_t now_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    slot->seen_ns = now_ns;
    if (is_of_event ? info->si_code == POLL_HUP && now_ns >= slot->held_until_ns
                    : slot->held_until_ns != 0 && now_ns >= slot->held_until_ns) {
        slot->held_until_ns = 0;
        keep_going(slot);
    }
    return !is_of_event && now_ns < slot->rest_until_ns ? 0 : pp_cpu_owed(slot, now_ns);
}

/* Stops the event. The timer goes on, and its signal starts the event again (on_signal). */
static void hold(pp_cpu_slot *slot, uint64_t until_ns)
{
    pp_cpu_engine_timers.hold(slot, until_ns);
    if (slot->event >= 0 && is_ours(slot)) {
        pp_system_call(SYS_ioctl, slot->event, PERF_EVENT_IOC_DISABLE, 0);
    }
}

const pp_cpu_engine pp_cpu_engine_perf = {
    .name = "perf",
    .arm = arm,
    .disarm = disarm,
    .hold = hold,
    .on_signal = on_signal,
    .after_sample = stretch_if_slow,
};

static bool is_of_a_descriptor(const siginfo_t *info)
{
    return info->si_code >= POLL_IN && info->si_code <= POLL_HUP;
}

bool pp_cpu_perf_has(int fd)
{
    const pp_cpu_slot *slot = NULL;
    if (fd >= 0 && fd < MAX_DESCRIPTOR) {
        slot = __atomic_load_n(&all.by_descriptor[fd], __ATOMIC_ACQUIRE);
    }
    return slot != NULL && __atomic_load_n(&slot->event, __ATOMIC_RELAXED) == fd;
}

bool pp_cpu_perf_owns(const siginfo_t *info, pp_cpu_slot **slot)
{
    if (!is_of_a_descriptor(info) || info->si_fd < 0 || info->si_fd >= MAX_DESCRIPTOR) {
        return false;
    }
    *slot = __atomic_load_n(&all.by_descriptor[info->si_fd], __ATOMIC_ACQUIRE);
    return *slot != NULL;
}

bool pp_cpu_perf_may_have_sent(const siginfo_t *info)
{
    return is_of_a_descriptor(info);
}

/* ---- exec ---- */

bool pp_cpu_perf_was_used(void)
{
    return __atomic_load_n(&all.used, __ATOMIC_RELAXED);
}

void pp_cpu_perf_confine(void)
{
    __atomic_store_n(&all.used, false, __ATOMIC_RELAXED);
}

/* Removes the pending signals of this thread. A timer's signal goes, too: the next sample has its
 * weight. A signal that another thread has sent (pthread_cancel()) is sent again. */
static void take_pending_back(void)
{
    const pp_signal_mask ours = pp_signal_bit(PP_SAMPLING_SIGNAL);
    const struct timespec at_once = {0};
    siginfo_t info = {0};
    bool others = false;
    while (pp_system_call(SYS_rt_sigtimedwait, &ours, &info, &at_once, sizeof ours) ==
           PP_SAMPLING_SIGNAL) {
        others = others || (!is_of_a_descriptor(&info) && info.si_code != SI_TIMER);
    }
    if (others) {
        pp_system_call(SYS_tgkill, pp_system_call(SYS_getpid), pp_task_self(), PP_SAMPLING_SIGNAL);
    }
}

void pp_cpu_perf_pause(const pp_cpu_slot *slot)
{
    if (slot != NULL && slot->event >= 0 && is_ours(slot)) {
        pp_system_call(SYS_ioctl, slot->event, PERF_EVENT_IOC_DISABLE, 0);
    }
    take_pending_back();
}

/* Lets the event go on as after its start: with one overflow, whose handler allows more. */
void pp_cpu_perf_resume(const pp_cpu_slot *slot)
{
    if (slot != NULL && slot->event >= 0 && is_ours(slot)) {
        pp_system_call(SYS_ioctl, slot->event, PERF_EVENT_IOC_REFRESH, 1);
    }
}

void pp_cpu_perf_after_fork_in_child(pp_cpu_slot *slot)
{
    if (slot->tid != 0 && slot->event >= 0) {
        if (is_ours(slot)) {
            pp_system_call(SYS_close, slot->event);
        }
        all.by_descriptor[slot->event] = NULL;
    }
    all.events = 0;
    all.used = false;
}
