/* SPDX-License-Identifier: MIT
 *
 * sampling_handler.c: the handler and the action of the sampling signal.
 *
 *   signal -> a sampler's? -> a question to this thread? -> libc's handler, or the default action
 *
 * Zone: SIGNAL. No malloc, no locks waited for, < 1 KiB of stack; errno is preserved.
 * Locks: one for installing the handler.
 * Owns: the action of the sampling signal.
 * Tested by: unit.thread_answers, e2e.cancelled_anywhere, e2e.alternate_stacks, e2e.attached
 */
#include "host/sampling_handler.h"

#include "arch/signal_frame.h"
#include "arch/system_call.h"
#include "base/compiler.h"
#include "host/samplers.h"
#include "sys/left_frame.h"
#include "sys/lock.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/task_state.h"
#include "sys/tasks.h"
#include "threads/small_stacks.h"
#include "threads/thread_answers.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <ucontext.h>

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

static struct {
    /* libc's action: the kernel's default, or glibc's handler for cancellation. */
    pp_signal_action libc_action;
    bool owned;     /* pp_sampling_handler_install() has succeeded */
    unsigned aside; /* the number of callers that want libc's action for a moment */
    pp_lock installing;
} state;

/* ---- signals that are not ours ---- */

/* The signal is blocked while its handler runs: it strikes when the handler returns. */
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
 * Calls libc's handler as the kernel would have called it. The call may not return: a thread that
 * is cancelled here is unwound through our frames, which hold nothing that would need to be
 * released. Its cleanup handlers see the signal mask that they would see without this library.
 */
static void call_libc(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    pp_signal_mask mask = 0;
    __builtin_memcpy(&mask, &((const ucontext_t *)context)->uc_sigmask, sizeof mask);
    mask |= state.libc_action.mask | pp_signal_bit(PP_SAMPLING_SIGNAL);
    pp_signals_restore(&mask);
    state.libc_action.handler(signal, info, context);
    errno = saved_errno;
}

static bool came_from_other_stack(const ucontext_t *context)
{
    return pp_is_on_stack(&context->uc_stack, (uintptr_t)context) &&
           !pp_is_on_stack(&context->uc_stack, pp_stack_pointer_from_context(context));
}

/*
 * libc's action has no SA_ONSTACK, unless somebody has added it. libc's handler unwinds the thread,
 * which takes some kilobytes. The alternate stack need not have so much; the thread's own stack
 * does, as without this library. So the handler is moved there.
 */
static void pass_to_libc(int signal, siginfo_t *info, void *context)
{
    if ((state.libc_action.flags & SA_ONSTACK) == 0 && came_from_other_stack(context) &&
        !pp_has_shadow_stack()) {
        pp_signal_move(call_libc, signal, info, context);
    }
    call_libc(signal, info, context);
}

PP_COLD_PATH static void pass_on(int signal, siginfo_t *info, void *context)
{
    bool changing = __atomic_load_n(&state.installing.owner, __ATOMIC_ACQUIRE) != 0;
    if (!pp_signal_action_is_default(&state.libc_action)) {
        if (!pp_signal_action_is_ignored(&state.libc_action)) {
            pass_to_libc(signal, info, context);
        }
    } else if (changing && info->si_code == SI_TKILL) {
        send_to_self(); /* install() has seen libc's handler, and has not noted it yet */
    } else if (!pp_samplers_may_have_sent(info)) {
        die_of_it();
    }
}

/*
 * The kernel starts the handler on the thread's alternate stack, if it has one (SA_ONSTACK). The
 * context, with which the kernel's frame begins, says which stack that is. It may be as small as
 * the program likes. A thread's own stack is not checked: the program expects signals there.
 */
bool pp_sampling_has_room(const void *ucontext)
{
    const ucontext_t *context = ucontext;
    uintptr_t left = (uintptr_t)context - (uintptr_t)context->uc_stack.ss_sp;
    return left >= context->uc_stack.ss_size || left >= PP_SAMPLE_ROOM;
}

static bool is_question(const siginfo_t *info)
{
    return info->si_code == SI_TIMER && pp_answers_own(info->si_value.sival_ptr);
}

/* A function of its own, so that its last call can replace its frame. */
static __attribute__((noinline)) void handle(int signal, siginfo_t *info, void *context)
{
    pp_claim claim = pp_samplers_claim(info);
    if (claim.sampler != NULL) {
        claim.sampler->take(claim.claimed, info, context);
    } else if (!is_question(info)) {
        pass_on(signal, info, context); /* may not return */
    } else if (pp_sampling_has_room(context)) {
        pp_answer_give(info->si_value.sival_ptr, context);
    }
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    handle(signal, info, context);
    errno = saved_errno;
}

/* ---- the action ---- */

bool pp_sampling_handler_installed(void)
{
    pp_signal_action now = {0};
    return pp_signal_action_change(PP_SAMPLING_SIGNAL, NULL, &now) && now.handler == on_signal;
}

static void note_libc_action(const pp_signal_action *action)
{
    state.libc_action.mask = action->mask;
    state.libc_action.flags = action->flags;
    state.libc_action.restorer = action->restorer;
    __atomic_store_n(&state.libc_action.handler, action->handler, __ATOMIC_RELEASE);
}

/* Notes the present action before our handler can get its signals. Notes it again after the change:
 * libc may have installed its handler in between. */
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

static int install_locked(bool only_if_owned)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.installing, pp_task_self(), &old);
    bool wanted = (!only_if_owned || state.owned) && state.aside == 0;
    int error = wanted ? install() : 0;
    __atomic_store_n(&state.owned, state.owned || (error == 0 && !only_if_owned), __ATOMIC_RELEASE);
    pp_lock_leave(&state.installing, &old);
    return error;
}

/* Unblocks the signal: the calling thread may have inherited a mask that was set past libc. */
static void open_signal(void)
{
    const pp_signal_mask ours = pp_signal_bit(PP_SAMPLING_SIGNAL);
    pp_system_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, NULL, sizeof ours);
}

int pp_sampling_handler_install(void)
{
    int error = install_locked(false);
    if (error == 0) {
        open_signal();
    }
    return error;
}

void pp_sampling_handler_reinstall(void)
{
    if (__atomic_load_n(&state.owned, __ATOMIC_ACQUIRE)) {
        install_locked(true);
    }
}

/* Changes nothing if libc has no handler yet: libc installs it in the call that follows. */
void pp_sampling_handler_step_aside(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.installing, pp_task_self(), &old);
    if (state.aside++ == 0 && state.owned && !pp_signal_action_is_default(&state.libc_action)) {
        pp_signal_action_change(PP_SAMPLING_SIGNAL, &state.libc_action, NULL);
    }
    pp_lock_leave(&state.installing, &old);
}

void pp_sampling_handler_step_back(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.installing, pp_task_self(), &old);
    if (--state.aside == 0 && state.owned) {
        install();
    }
    pp_lock_leave(&state.installing, &old);
}

void pp_sampling_handler_after_fork_in_child(void)
{
    pp_lock_release(&state.installing);
    state.aside = 0;
    pp_sampling_handler_reinstall();
}

/* ---- the end ---- */

static void remove_handler(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&state.installing, pp_task_self(), &old);
    if (pp_sampling_handler_installed()) {
        pp_signal_action_change(PP_SAMPLING_SIGNAL, &state.libc_action, NULL);
    }
    __atomic_store_n(&state.owned, false, __ATOMIC_RELEASE);
    pp_lock_leave(&state.installing, &old);
}

/* A thread takes a pending signal when it next runs. One that blocks the signal may never do so. */
enum { ROUNDS = 200, PAUSE_NS = 5 * 1000 * 1000 };

typedef struct look {
    char status[PP_TASK_STATUS_BYTES];
    bool any;
} look;

static void look_at(int tid, void *context)
{
    look *l = context;
    l->any = l->any || pp_task_has_pending(tid, PP_SAMPLING_SIGNAL, l->status);
}

static bool is_one_listed(void)
{
    char directory[4096] __attribute__((aligned(16)));
    look l = {.any = false};
    int seen = pp_tasks_each(directory, sizeof directory, look_at, &l);
    return l.any || seen < 0 || (unsigned)seen < pp_tasks_count();
}

/* Looks twice, since a thread that one listing has left out is in the next one. */
static bool is_any_pending(void)
{
    bool pending = is_one_listed();
    return pending || is_one_listed();
}

bool pp_sampling_handler_end(void)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (!pp_sampling_handler_installed()) {
        return true;
    }
    for (int i = 0; is_any_pending(); i++) {
        if (i == ROUNDS) {
            return false;
        }
        pp_system_call(SYS_nanosleep, &pause, NULL);
    }
    remove_handler();
    return true;
}
