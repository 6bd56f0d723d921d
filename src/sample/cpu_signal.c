/* SPDX-License-Identifier: MIT
 *
 * cpu_signal.c: one CPU sample, from the signal to the table.
 *
 *   SIGPROF -> ours? -> session active? -> scratch -> walk -> pp_stack_counts_record
 *                |no          |no              |none               |full
 *                v            v                v                   v
 *            previous      nothing        counted as lost     counted as lost
 *
 * Zone: SIGNAL. No malloc, no locks waited for, < 1 KiB of stack; errno is preserved.
 * Locks: none.
 * Owns: the session's variables; the scratch buffers.
 */
#include "sample/cpu_signal.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "sample/cpu_session.h"
#include "sample/cpu_timers.h"
#include "sample/scratch.h"
#include "sys/tasks.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum {
    LOOK_AGAIN_NS =
        250 * 1000 * 1000 /* how long a thread may stay unseen if no hook saw it start */
};

pp_cpu_session pp_cpu;

static struct sigaction previous;
static uint64_t next_look_ns;

/* A real function, so that every reader shows its name; its address is all that is used. */
__attribute__((visibility("default"), noinline, used)) void pprof_lost_samples(void)
{
    __asm__ volatile("" ::: "memory");
}

pp_stack_entry *pp_cpu_count(const uintptr_t *pcs, uint32_t depth, uint64_t weight)
{
    pp_stack_entry *entry = pp_stack_counts_record(pp_cpu.counts, pcs, depth, weight);
    if (entry == NULL) {
        __atomic_add_fetch(&pp_cpu.lost_table_full, weight, __ATOMIC_RELAXED);
    }
    return entry;
}

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void look_for_new_threads(uint64_t now_ns)
{
    uint64_t due_ns = __atomic_load_n(&next_look_ns, __ATOMIC_RELAXED);
    if (now_ns >= due_ns &&
        __atomic_compare_exchange_n(&next_look_ns, &due_ns, now_ns + LOOK_AGAIN_NS, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        pp_cpu_timers_look_again();
    }
}

static void take_sample(pp_cpu_slot *slot, uint64_t weight, const void *context)
{
    slot->counted += weight;
    uintptr_t *pcs = pp_scratch_take();
    if (pcs == NULL) {
        __atomic_add_fetch(&pp_cpu.lost_no_scratch, weight, __ATOMIC_RELAXED);
        return;
    }
    pp_walk walk = {.pcs = pcs, .capacity = PP_SCRATCH_DEPTH};
    pp_walk_from_context(context, &walk);
    pp_stack_entry *entry = pp_cpu_count(pcs, walk.depth, weight);
    pp_scratch_give(pcs);
    if (entry != NULL) {
        slot->last = entry;
    }
    __atomic_add_fetch(&pp_cpu.stops[walk.stop], weight, __ATOMIC_RELAXED);
    if (walk.guessed && walk.stop == PP_STOP_END) {
        __atomic_add_fetch(&pp_cpu.guessed_whole, weight, __ATOMIC_RELAXED);
    }
}

static void on_timer(pp_cpu_slot *slot, int overrun, const void *context)
{
    __atomic_add_fetch(&pp_cpu.in_flight, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pp_cpu.active, __ATOMIC_SEQ_CST) &&
        __atomic_load_n(&slot->session, __ATOMIC_ACQUIRE) == pp_cpu.number) {
        uint64_t now_ns = monotonic_ns();
        if (pp_cpu.deadline_ns == 0 || now_ns < pp_cpu.deadline_ns) {
            take_sample(slot, 1 + (uint64_t)(overrun > 0 ? overrun : 0), context);
            look_for_new_threads(now_ns);
        }
    }
    __atomic_sub_fetch(&pp_cpu.in_flight, 1, __ATOMIC_SEQ_CST);
}

/* What would have happened to a signal that is not ours, had we not been here. */
PP_COLD_PATH static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler == SIG_DFL) {
        const uint64_t all_zero[4] = {0}; /* the kernel's struct sigaction: SIG_DFL, no flags */
        pp_system_call(SYS_rt_sigaction, SIGPROF, all_zero, NULL, sizeof(uint64_t));
        /* Blocked while we are in its handler: it strikes on return. */
        pp_system_call(SYS_tgkill, pp_system_call(SYS_getpid), pp_task_self(), SIGPROF);
    } else if (previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
    }
}

static void on_sigprof(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    if (info->si_code == SI_TIMER && pp_cpu_timers_owns(info->si_value.sival_ptr)) {
        on_timer(info->si_value.sival_ptr, info->si_overrun, context);
    } else {
        pass_on(signal, info, context);
    }
    errno = saved_errno;
}

bool pp_cpu_signal_installed(void)
{
    struct sigaction now;
    return sigaction(SIGPROF, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == on_sigprof;
}

int pp_cpu_signal_install(void)
{
    if (pp_cpu_signal_installed()) {
        return 0;
    }
    struct sigaction action = {.sa_sigaction = on_sigprof, .sa_flags = SA_RESTART | SA_SIGINFO};
    /* No handler of the host may interrupt ours: it might end the process, or jump out of both. */
    sigfillset(&action.sa_mask);
    struct sigaction old;
    if (sigaction(SIGPROF, NULL, &old) != 0) {
        return -errno;
    }
    previous = old; /* before the handler can run */
    return sigaction(SIGPROF, &action, NULL) == 0 ? 0 : -errno;
}
