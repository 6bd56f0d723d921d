/* SPDX-License-Identifier: MIT
 *
 * cpu_signal.c: one CPU sample, from the signal to the table.
 *
 *   SIGPROF -> ours? -> session active? -> scratch -> walk -> pp_stack_counts_record
 *                |no          |no              |none               |full
 *                v            v                v                   v
 *            host's        nothing        counted as lost     counted as lost
 *
 * Zone: SIGNAL. No malloc, no locks waited for, < 1 KiB of stack; errno is preserved.
 * Locks: one for installing the handler.
 * Owns: the session's variables; the scratch buffers.
 */
#include "sample/cpu_signal.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "base/stack_hash.h"
#include "sample/cpu_perf.h"
#include "sample/cpu_session.h"
#include "sample/cpu_timers.h"
#include "sample/scratch.h"
#include "sample/thread_answers.h"
#include "store/labels.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <signal.h>

enum {
    HOST_ACTIONS = 8,
    LOOK_AGAIN_NS =
        250 * 1000 * 1000 /* how long a thread may stay unseen if no hook saw it start */
};

pp_cpu_session pp_cpu;

/* What the host wants done with SIGPROF, the newest at index host_action. A handler may still read
 * an older one while a new one is written. */
static struct sigaction host_actions[HOST_ACTIONS];
static unsigned host_action;
static bool owned;
static pp_lock installing;
static PP_TLS bool host_blocks; /* the thread's host believes SIGPROF to be blocked */
static uint64_t next_look_ns;

/* A real function, so that every reader shows its name; its address is all that is used. */
__attribute__((visibility("default"), noinline, used)) void pprof_lost_samples(void)
{
    __asm__ volatile("" ::: "memory");
}

static pp_stack_entry *count(const uintptr_t *pcs, uint32_t depth, uint64_t hash, uint64_t weight)
{
    pp_stack_entry *entry = pp_stack_counts_record(pp_cpu.counts, pcs, depth, hash, weight);
    if (entry == NULL) {
        __atomic_add_fetch(&pp_cpu.lost_table_full, weight, __ATOMIC_RELAXED);
    }
    return entry;
}

/* The part that a set of labels has of it; the cell is in use. */
static pp_label_cell *count_labels(const pp_stack_entry *entry, pprof_labels *labels,
                                   uint64_t weight)
{
    pp_label_cell *cell = pp_label_cell_take(pp_cpu.labels, entry, labels, weight);
    pp_label_cell_add(cell, 0, weight);
    return cell;
}

void pp_cpu_count(const uintptr_t *pcs, uint32_t depth, pprof_labels *labels, uint64_t weight)
{
    const pp_stack_entry *entry = count(pcs, depth, pp_stack_hash(pcs, depth), weight);
    if (entry != NULL && labels != NULL) {
        pp_label_cell_give(count_labels(entry, labels, weight));
    }
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

/* For the profile's comment: which module is to blame. */
static void note_stop(const pp_walk *walk, uint64_t weight)
{
    uintptr_t none = 0;
    __atomic_add_fetch(&pp_cpu.stops[walk->stop], weight, __ATOMIC_RELAXED);
    if (walk->guessed && walk->stop == PP_STOP_END) {
        __atomic_add_fetch(&pp_cpu.guessed_whole, weight, __ATOMIC_RELAXED);
    }
    if (walk->stop == PP_STOP_NO_RULE && walk->depth > 0) {
        __atomic_compare_exchange_n(&pp_cpu.first_without_rule, &none, walk->pcs[walk->depth - 1],
                                    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

static void note_last(pp_cpu_slot *slot, pp_stack_entry *entry, uint64_t weight)
{
    pprof_labels *labels = pp_labels_current();
    slot->last = entry;
    if (labels != NULL || slot->last_cell != NULL) {
        pp_label_cell *before = slot->last_cell;
        slot->last_cell = count_labels(entry, labels, weight);
        pp_label_cell_give(before);
    }
}

static void take_sample(pp_cpu_slot *slot, uint64_t weight, const void *context)
{
    slot->counted += weight;
    pp_scratch *scratch = pp_scratch_take();
    if (scratch == NULL) {
        __atomic_add_fetch(&pp_cpu.lost_no_scratch, weight, __ATOMIC_RELAXED);
        return;
    }
    pp_walk *walk = &scratch->walk;
    *walk = (pp_walk){.pcs = scratch->pcs,
                      .space = &scratch->space,
                      .capacity = PP_SCRATCH_DEPTH,
                      .wants_hash = true};
    pp_walk_from_context(context, walk);
    pp_stack_entry *entry = count(scratch->pcs, walk->depth, walk->hash, weight);
    note_stop(walk, weight);
    pp_scratch_give(scratch);
    if (entry != NULL) {
        note_last(slot, entry, weight);
    }
}

static void on_our_signal(pp_cpu_slot *slot, const siginfo_t *info, const void *context)
{
    __atomic_add_fetch(&pp_cpu.in_flight, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pp_cpu.active, __ATOMIC_SEQ_CST) &&
        __atomic_load_n(&slot->session, __ATOMIC_ACQUIRE) == pp_cpu.number) {
        uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        if (pp_cpu.deadline_ns == 0 || now_ns < pp_cpu.deadline_ns) {
            uint64_t weight = pp_cpu.engine->on_signal(slot, info);
            if (weight > 0) {
                take_sample(slot, weight, context);
            }
            look_for_new_threads(now_ns);
        }
    }
    __atomic_sub_fetch(&pp_cpu.in_flight, 1, __ATOMIC_SEQ_CST);
}

/* ---- signals that are not ours ---- */

/* What would have happened, had we not been here. */
PP_COLD_PATH static void pass_on(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *host = &host_actions[__atomic_load_n(&host_action, __ATOMIC_ACQUIRE)];
    if (host->sa_flags & SA_SIGINFO) {
        host->sa_sigaction(signal, info, context);
    } else if (host->sa_handler == SIG_DFL) {
        if (pp_cpu_perf_may_have_sent(info)) {
            return; /* a sample lost, not a reason to die */
        }
        const uint64_t all_zero[4] = {0}; /* the kernel's struct sigaction: SIG_DFL, no flags */
        pp_system_call(SYS_rt_sigaction, SIGPROF, all_zero, NULL, sizeof(uint64_t));
        /* Blocked while we are in its handler: it strikes on return. */
        pp_system_call(SYS_tgkill, pp_system_call(SYS_getpid), pp_task_self(), SIGPROF);
    } else if (host->sa_handler != SIG_IGN) {
        host->sa_handler(signal);
    }
}

void pp_cpu_signal_host_action(const struct sigaction *action, struct sigaction *old)
{
    unsigned now = __atomic_load_n(&host_action, __ATOMIC_RELAXED);
    struct sigaction wanted = action != NULL ? *action : host_actions[now]; /* old may be action */
    if (old != NULL) {
        *old = host_actions[now];
    }
    if (action != NULL) {
        unsigned next = (now + 1) % HOST_ACTIONS;
        host_actions[next] = wanted;
        __atomic_store_n(&host_action, next, __ATOMIC_RELEASE);
    }
}

static void on_sigprof(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    pp_cpu_slot *slot = NULL;
    if (info->si_code == SI_TIMER && pp_cpu_timers_owns(info->si_value.sival_ptr)) {
        on_our_signal(info->si_value.sival_ptr, info, context);
    } else if (info->si_code == SI_TIMER && pp_answers_own(info->si_value.sival_ptr)) {
        pp_answer_give(info->si_value.sival_ptr, context);
    } else if (pp_cpu_perf_owns(info, &slot)) {
        on_our_signal(slot, info, context);
    } else {
        pass_on(signal, info, context);
    }
    errno = saved_errno;
}

/* ---- the disposition ---- */

bool pp_cpu_signal_owned(void)
{
    return __atomic_load_n(&owned, __ATOMIC_ACQUIRE);
}

/* Asked of the kernel: the host may have gone past libc, and our hook of sigaction tells what the
 * host wants to hear. */
bool pp_cpu_signal_installed(void)
{
    struct {
        void (*handler)(int, siginfo_t *, void *);
        uint64_t flags;
        void (*restorer)(void);
        uint64_t mask;
    } now = {0};
    return pp_system_call(SYS_rt_sigaction, SIGPROF, NULL, &now, sizeof now.mask) == 0 &&
           now.handler == on_sigprof;
}

static int install(void)
{
    if (pp_cpu_signal_installed()) {
        return 0;
    }
    struct sigaction action = {.sa_sigaction = on_sigprof, .sa_flags = SA_RESTART | SA_SIGINFO};
    /* No handler of the host may interrupt ours: it might end the process, or jump out of both. */
    sigfillset(&action.sa_mask);
    struct sigaction host;
    __atomic_store_n(&owned, false, __ATOMIC_RELEASE); /* the real disposition is meant now */
    if (sigaction(SIGPROF, NULL, &host) != 0) {
        return -errno;
    }
    pp_cpu_signal_host_action(&host, NULL); /* before our handler can run */
    if (sigaction(SIGPROF, &action, NULL) != 0) {
        return -errno;
    }
    __atomic_store_n(&owned, true, __ATOMIC_RELEASE);
    return 0;
}

/* One at a time: who comes second must not take our handler for the host's. */
int pp_cpu_signal_install(void)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    pp_lock_take(&installing, pp_task_self());
    int error = install();
    pp_lock_release(&installing);
    pp_signals_restore(&old);
    return error;
}

bool pp_cpu_signal_must_be_open(void)
{
    const struct sigaction *host = &host_actions[__atomic_load_n(&host_action, __ATOMIC_ACQUIRE)];
    return pp_cpu_signal_owned() && !(host->sa_flags & SA_SIGINFO) &&
           (host->sa_handler == SIG_DFL || host->sa_handler == SIG_IGN);
}

bool pp_cpu_signal_host_blocks(void)
{
    return host_blocks;
}

void pp_cpu_signal_set_host_blocks(bool blocks)
{
    host_blocks = blocks;
}

void pp_cpu_signal_open(void)
{
    const pp_signal_mask prof = pp_signal_bit(SIGPROF);
    pp_signal_mask old = 0;
    if (pp_cpu_signal_must_be_open()) {
        pp_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &prof, &old, sizeof prof);
        host_blocks = host_blocks || (old & prof) != 0;
    }
}

void pp_cpu_signal_after_fork_in_child(void)
{
    pp_lock_release(&installing);
    if (owned) {
        owned = false;
        sigaction(SIGPROF, &host_actions[host_action], NULL);
    }
}
