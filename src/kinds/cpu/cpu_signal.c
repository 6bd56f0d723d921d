/* SPDX-License-Identifier: MIT
 *
 * cpu_signal.c: one CPU sample, from the signal to the table.
 *
 *   signal -> ours? -> session active? -> thread's own slot? -> room? -> scratch -> walk -> count
 *               |no         |no                |no               |none     |none            |full
 *               v           v                  v                 v         v                v
 *            libc's      nothing            nothing           counted as lost
 *
 * Zone: SIGNAL. No malloc, no locks waited for, < 1 KiB of stack; errno is preserved.
 * Locks: one for installing the handler.
 * Owns: the sessions; the action of the sampling signal.
 */
#include "kinds/cpu/cpu_signal.h"

#include "arch/signal_frame.h"
#include "arch/system_call.h"
#include "base/compiler.h"
#include "base/stack_hash.h"
#include "kinds/cpu/cpu_perf.h"
#include "kinds/cpu/cpu_session.h"
#include "kinds/cpu/cpu_timers.h"
#include "unwind/scratch.h"
#include "kinds/threads/thread_answers.h"
#include "store/labels.h"
#include "sys/clock.h"
#include "sys/left_frame.h"
#include "sys/lock.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

static const uint64_t look_again_ns =
    UINT64_C(250000000); /* how long a thread may stay unseen if no hook saw it start */

pp_cpu_session pp_cpu_sessions[PP_CPU_SESSIONS];
pp_cpu_session *pp_cpu = pp_cpu_sessions;

/* What libc had there before us: the kernel's default, or glibc's handler for cancellation. */
static pp_signal_action libc_action;
static bool owned;
static unsigned aside; /* how many callers want libc's there for a moment */
static pp_lock installing;
static uint64_t next_look_ns;

/* The slot that was found to be the calling thread's, and in which session. */
typedef struct own_slot {
    const pp_cpu_slot *slot;
    uint32_t session;
} own_slot;

static PP_TLS own_slot mine;

/* A real function, so that every reader shows its name; its address is all that is used. */
__attribute__((visibility("default"), noinline, used)) void pprof_lost_samples(void)
{
    __asm__ volatile("" ::: "memory");
}

static pp_stack_entry *count(pp_cpu_session *session, const uintptr_t *pcs, uint32_t depth,
                             uint64_t hash, uint64_t weight)
{
    pp_stack_entry *entry = pp_stack_counts_record(session->counts, pcs, depth, hash, weight);
    if (entry == NULL) {
        __atomic_add_fetch(&session->lost_table_full, weight, __ATOMIC_RELAXED);
    }
    return entry;
}

/* The part that a set of labels has of it; the cell is in use. */
static pp_label_cell *count_labels(const pp_cpu_session *session, const pp_stack_entry *entry,
                                   pprof_labels *labels, uint64_t weight)
{
    pp_label_cell *cell = pp_label_cell_take(session->labels, entry, labels, weight);
    pp_label_cell_add(cell, 0, weight);
    return cell;
}

void pp_cpu_count(pp_cpu_session *session, const uintptr_t *pcs, uint32_t depth,
                  pprof_labels *labels, uint64_t weight)
{
    const pp_stack_entry *entry = count(session, pcs, depth, pp_stack_hash(pcs, depth), weight);
    if (entry != NULL && labels != NULL) {
        pp_label_cell_give(count_labels(session, entry, labels, weight));
    }
}

static void look_for_new_threads(uint64_t now_ns)
{
    uint64_t due_ns = __atomic_load_n(&next_look_ns, __ATOMIC_RELAXED);
    if (now_ns >= due_ns &&
        __atomic_compare_exchange_n(&next_look_ns, &due_ns, now_ns + look_again_ns, false,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        pp_cpu_timers_look_again();
    }
}

/* For the profile's comment: which module is to blame. */
static void note_stop(pp_cpu_session *session, const pp_walk *walk, uint64_t weight)
{
    uintptr_t none = 0;
    __atomic_add_fetch(&session->stops[walk->stop], weight, __ATOMIC_RELAXED);
    if (walk->guessed && walk->stop == PP_STOP_END) {
        __atomic_add_fetch(&session->guessed_whole, weight, __ATOMIC_RELAXED);
    }
    if (walk->stop == PP_STOP_NO_RULE && walk->depth > 0) {
        __atomic_compare_exchange_n(&session->first_without_rule, &none, walk->pcs[walk->depth - 1],
                                    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

static void note_last(const pp_cpu_session *session, pp_cpu_slot *slot, pp_stack_entry *entry,
                      uint64_t weight)
{
    pprof_labels *labels = pp_labels_current();
    slot->last = entry;
    if (labels != NULL || slot->last_cell != NULL) {
        pp_label_cell *before = slot->last_cell;
        slot->last_cell = count_labels(session, entry, labels, weight);
        pp_label_cell_give(before);
    }
}

/*
 * The kernel starts the handler on the thread's alternate stack, if it has one (SA_ONSTACK), and
 * says in the context, which begins its frame, which one that is. It may be as small as the program
 * likes. A thread's own stack is not asked: its program was built to have signals there.
 */
static bool has_room(const ucontext_t *context)
{
    enum { ROOM = 1024 + 256 }; /* what a sample needs (bench/handler_stack), and a margin */
    uintptr_t left = (uintptr_t)context - (uintptr_t)context->uc_stack.ss_sp;
    return left >= context->uc_stack.ss_size || left >= ROOM;
}

static void take_sample(pp_cpu_session *session, pp_cpu_slot *slot, uint64_t weight,
                        const void *context)
{
    slot->counted += weight;
    pp_scratch *scratch = pp_scratch_take();
    if (scratch == NULL) {
        __atomic_add_fetch(&session->lost_no_scratch, weight, __ATOMIC_RELAXED);
        return;
    }
    pp_walk *walk = &scratch->walk;
    *walk = (pp_walk){.pcs = scratch->pcs,
                      .space = &scratch->space,
                      .capacity = PP_SCRATCH_DEPTH,
                      .wants_hash = true};
    pp_walk_from_context(context, walk);
    pp_stack_entry *entry = count(session, scratch->pcs, walk->depth, walk->hash, weight);
    note_stop(session, walk, weight);
    pp_scratch_give(scratch);
    if (entry != NULL) {
        note_last(session, slot, entry, weight);
    }
}

static void lose_sample(pp_cpu_session *session, pp_cpu_slot *slot, uint64_t weight)
{
    slot->counted += weight;
    __atomic_add_fetch(&session->lost_no_room, weight, __ATOMIC_RELAXED);
}

/*
 * A signal may come late: from a timer of the session before, whose slot is another thread's in
 * this one. The system call is made once a thread and session.
 */
static bool is_own_slot(const pp_cpu_session *session, const pp_cpu_slot *slot)
{
    if (__atomic_load_n(&slot->session, __ATOMIC_ACQUIRE) != session->number) {
        return false;
    }
    if (mine.slot == slot && mine.session == session->number) {
        return true;
    }
    if (slot->tid != pp_task_self()) {
        return false;
    }
    mine = (own_slot){slot, session->number};
    return true;
}

static void on_our_signal(pp_cpu_slot *slot, const siginfo_t *info, const void *context)
{
    pp_cpu_session *session = pp_cpu_session_enter();
    if (session == NULL) {
        return;
    }
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (is_own_slot(session, slot) &&
        (session->deadline_ns == 0 || now_ns < session->deadline_ns)) {
        uint64_t weight = session->engine->on_signal(slot, info);
        if (weight > 0 && has_room(context)) {
            take_sample(session, slot, weight, context);
            look_for_new_threads(now_ns);
            if (session->engine->after_sample != NULL) {
                session->engine->after_sample(slot, now_ns);
            }
        } else if (weight > 0) {
            lose_sample(session, slot, weight);
        }
    }
    pp_cpu_session_leave(session);
}

void pp_cpu_signal_forget_slot(void)
{
    mine.slot = NULL;
}

/* ---- signals that are not ours ---- */

/* Blocked while we are in its handler, it strikes on return. */
static void send_to_self(void)
{
    pp_system_call(SYS_tgkill, pp_system_call(SYS_getpid), pp_task_self(), PP_SAMPLING_SIGNAL);
}

static void die_of_it(void)
{
    const pp_signal_action fatal = {.handler = NULL}; /* SIG_DFL */
    if (!pp_signal_action_change(PP_SAMPLING_SIGNAL, &fatal, NULL)) {
        pp_system_call(SYS_exit_group,
                       PP_STATUS_OF_SIGNAL + PP_SAMPLING_SIGNAL); /* a filter refuses it */
    }
    send_to_self();
}

/*
 * As the kernel would have called it. It may not come back: a thread that is cancelled here is
 * unwound through us, with nothing in our hands, and its cleanup handlers see the mask that they
 * would see.
 */
static void call_libc(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    pp_signal_mask mask = 0;
    __builtin_memcpy(&mask, &((const ucontext_t *)context)->uc_sigmask, sizeof mask);
    mask |= libc_action.mask | pp_signal_bit(PP_SAMPLING_SIGNAL);
    pp_signals_restore(&mask);
    libc_action.handler(signal, info, context);
    errno = saved_errno;
}

static bool came_from_other_stack(const ucontext_t *context)
{
    return pp_is_on_stack(&context->uc_stack, (uintptr_t)context) &&
           !pp_is_on_stack(&context->uc_stack, (uintptr_t)context->uc_mcontext.gregs[REG_RSP]);
}

/*
 * libc's handler has no SA_ONSTACK, unless somebody has added it. It unwinds the thread, which
 * takes some kilobytes: more than there need be on the alternate stack, but for a thread's own
 * stack its program has seen to it.
 */
static void pass_to_libc(int signal, siginfo_t *info, void *context)
{
    if ((libc_action.flags & SA_ONSTACK) == 0 && came_from_other_stack(context) &&
        !pp_has_shadow_stack()) {
        pp_signal_move(call_libc, signal, info, context);
    }
    call_libc(signal, info, context);
}

PP_COLD_PATH static void pass_on(int signal, siginfo_t *info, void *context)
{
    bool changing = __atomic_load_n(&installing.owner, __ATOMIC_ACQUIRE) != 0;
    if (!pp_signal_action_is_default(&libc_action)) {
        if (!pp_signal_action_is_ignored(&libc_action)) {
            pass_to_libc(signal, info, context);
        }
    } else if (changing && info->si_code == SI_TKILL) {
        send_to_self(); /* libc's handler was found this moment, and is not written down yet */
    } else if (!pp_cpu_perf_may_have_sent(info)) {
        die_of_it();
    }
}

static pp_cpu_slot *slot_of(const siginfo_t *info)
{
    pp_cpu_slot *slot = NULL;
    if (info->si_code == SI_TIMER) {
        return pp_cpu_timers_owns(info->si_value.sival_ptr) ? info->si_value.sival_ptr : NULL;
    }
    return pp_cpu_perf_owns(info, &slot) ? slot : NULL;
}

static bool is_question(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && pp_answers_own(info->si_value.sival_ptr);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    pp_cpu_slot *slot = slot_of(info);
    if (slot != NULL) {
        on_our_signal(slot, info, context);
    } else if (!is_question(info)) {
        pass_on(signal, info, context); /* it may not come back */
    } else if (has_room(context)) {
        pp_answer_give(info->si_value.sival_ptr, context);
    }
    errno = saved_errno;
}

/* ---- the action ---- */

bool pp_cpu_signal_installed(void)
{
    pp_signal_action now = {0};
    return pp_signal_action_change(PP_SAMPLING_SIGNAL, NULL, &now) && now.handler == on_signal;
}

static void note_libc_action(const pp_signal_action *action)
{
    libc_action.mask = action->mask;
    libc_action.flags = action->flags;
    libc_action.restorer = action->restorer;
    __atomic_store_n(&libc_action.handler, action->handler, __ATOMIC_RELEASE);
}

/* What is there is written down before ours can get its signals; and once more, should libc have
 * put its own there in between. */
static int install(void)
{
    const pp_signal_action ours = {.handler = on_signal,
                                   .flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
                                   .restorer = pp_signal_return,
                                   .mask = ~(pp_signal_mask)0};
    pp_signal_action before = {0};
    if (!pp_signal_action_change(PP_SAMPLING_SIGNAL, NULL, &before)) {
        return -EPERM;
    }
    if (before.handler == on_signal) {
        return 0;
    }
    note_libc_action(&before);
    if (!pp_signal_action_change(PP_SAMPLING_SIGNAL, &ours, &before)) {
        return -EPERM;
    }
    if (before.handler != on_signal) {
        note_libc_action(&before);
    }
    return 0;
}

static void enter(pp_signal_mask *old)
{
    pp_signals_block(old);
    pp_lock_take(&installing, pp_task_self());
}

static void leave(const pp_signal_mask *old)
{
    pp_lock_release(&installing);
    pp_signals_restore(old);
}

static int install_locked(bool only_if_owned)
{
    pp_signal_mask old = 0;
    enter(&old);
    bool wanted = (!only_if_owned || owned) && aside == 0;
    int error = wanted ? install() : 0;
    __atomic_store_n(&owned, owned || (error == 0 && !only_if_owned), __ATOMIC_RELEASE);
    leave(&old);
    return error;
}

/* The calling thread may have inherited a mask that was made past libc. */
static void open_signal(void)
{
    const pp_signal_mask ours = pp_signal_bit(PP_SAMPLING_SIGNAL);
    pp_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, NULL, sizeof ours);
}

int pp_cpu_signal_install(void)
{
    int error = install_locked(false);
    if (error == 0) {
        open_signal();
    }
    return error;
}

void pp_cpu_signal_reinstall(void)
{
    if (__atomic_load_n(&owned, __ATOMIC_ACQUIRE)) {
        install_locked(true);
    }
}

/* If libc has none yet, it puts one there in the call that is about to be made. */
void pp_cpu_signal_step_aside(void)
{
    pp_signal_mask old = 0;
    enter(&old);
    if (aside++ == 0 && owned && !pp_signal_action_is_default(&libc_action)) {
        pp_signal_action_change(PP_SAMPLING_SIGNAL, &libc_action, NULL);
    }
    leave(&old);
}

void pp_cpu_signal_step_back(void)
{
    pp_signal_mask old = 0;
    enter(&old);
    if (--aside == 0 && owned) {
        install();
    }
    leave(&old);
}

void pp_cpu_signal_after_fork_in_child(void)
{
    pp_lock_release(&installing);
    aside = 0;
    pp_cpu_signal_reinstall();
    mine.slot = NULL;
}
