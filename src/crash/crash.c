/* SPDX-License-Identifier: MIT
 *
 * crash.c: a dump, and then the end that the crash would have had.
 *
 *   a thread crashes   --> turn --> dump --> default actions; the signal is queued again --> return
 *   another one does   --> waits for the end of the process
 *   the dump crashes   --> the dump's registers are replaced by those of the first signal --> return
 *   the dump hangs     --> a timer sends SIGABRT --> likewise
 *
 * The signal is blocked while its handler runs. It strikes when the handler returns, before the
 * program executes an instruction. A faulting instruction would fault again anyhow; but not if
 * another thread has mapped memory there meanwhile.
 *
 * The dump is written on a stack of its own. While it is, the thread has no alternate stack: the
 * kernel would start the handler of a second fault at the end of that stack, where the frame of the
 * first is.
 *
 * Zone: HOOK.
 * Tested by: e2e.crash
 */
#include "crash/crash.h"

#include "arch/call_on_stack.h"
#include "arch/registers.h"
#include "arch/signal_frame.h"
#include "arch/system_call.h"
#include "base/memory.h"
#include "crash/dump_turn.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

enum { STACK_BYTES = 1 << 20 /* of which only touched pages are ever there */ };

const int pp_crash_signals[PP_CRASH_SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* The signal that is handled. The holder of the turn uses it. */
typedef struct crash {
    int signal;
    siginfo_t *info;
    ucontext_t *context;
    bool goes_on;
    int timer; /* -1: none */
} crash;

static struct {
    char *stack;
    crash now;
    pp_crash_calls calls;
} state = {.now.timer = -1};

int pp_crash_prepare(const pp_crash_calls *calls)
{
    state.calls = *calls;
    if (state.stack == NULL) {
        state.stack = pp_memory_map(STACK_BYTES);
    }
    return state.stack != NULL ? 0 : -ENOMEM;
}

/* ---- the end ---- */

/* True if the kernel accepts the action for all signals of a crash. */
static bool set_actions(const pp_signal_action *action)
{
    bool accepted = true;
    for (size_t i = 0; i < PP_CRASH_SIGNALS; i++) {
        accepted &= pp_signal_action_change(pp_crash_signals[i], action, NULL);
    }
    return accepted;
}

/* The signal strikes when the handler returns, with the mask that the handler returns to. The thread may
 * have no thread-local variables: pp_task_self() has one. */
static void strike_again(int signal, siginfo_t *info)
{
    const pp_signal_action fatal = {.handler = NULL}; /* SIG_DFL */
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    if (!set_actions(&fatal)) {
        pp_system_call(SYS_exit_group, PP_STATUS_OF_SIGNAL + signal); /* a filter refuses it */
    }
    int process = pp_task_process();
    int self = (int)pp_system_call(SYS_gettid);
    if (pp_system_call(SYS_rt_tgsigqueueinfo, process, self, signal, info) != 0) {
        pp_system_call(SYS_tgkill, process, self, signal); /* a filter refuses it */
    }
}

/* ---- the time that a dump may take ---- */

static void set_timer(void)
{
    const struct itimerspec time = {.it_value.tv_sec = PP_DUMP_PATIENCE_NS / PP_NS_PER_S};
    if (pp_task_timer_create(pp_task_self(), CLOCK_MONOTONIC, SIGABRT, &state, &state.now.timer) ==
        0) {
        pp_system_call(SYS_timer_settime, state.now.timer, 0, &time, NULL);
    }
}

static void delete_timer(void)
{
    if (state.now.timer >= 0) {
        pp_system_call(SYS_timer_delete, state.now.timer);
        state.now.timer = -1;
    }
}

/* ---- a signal while the thread dumps ---- */

/* A signal that somebody sends to the process says nothing about the dump. */
static bool is_about_dump(const siginfo_t *info)
{
    return info->si_code > 0 || info->si_code == SI_TKILL ||
           (info->si_code == SI_TIMER && info->si_value.sival_ptr == &state);
}

/* Continues where the first signal struck, with the registers and the mask of that moment. */
static void leave_dump(ucontext_t *context)
{
    const crash *c = &state.now;
    memcpy(&context->uc_sigmask, &c->context->uc_sigmask, sizeof(pp_signal_mask));
    context->uc_mcontext = c->context->uc_mcontext;
    context->uc_stack = c->context->uc_stack;
}

static void end_dump(ucontext_t *context)
{
    bool goes_on = state.now.goes_on;
    delete_timer();
    pp_apart_resume();
    if (pp_has_shadow_stack() && !goes_on) {
        strike_again(state.now.signal, state.now.info); /* here: no jump may leave the dump */
        return;
    }
    leave_dump(context);
    if (goes_on) {
        pp_dump_turn_end();
    } else {
        strike_again(state.now.signal, state.now.info);
    }
}

/* ---- the dump ---- */

/* Signals of a crash stay unblocked. */
static void block_others(void)
{
    pp_signal_mask others = ~pp_signal_bit(PP_SETUID_SIGNAL);
    for (size_t i = 0; i < PP_CRASH_SIGNALS; i++) {
        others &= ~pp_signal_bit(pp_crash_signals[i]);
    }
    pp_signals_restore(&others);
}

static void dump(void *unused)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    const crash *c = &state.now;
    (void)unused;
    pp_system_call(SYS_sigaltstack, &none, NULL); /* the kernel restores it when the handler ends */
    block_others();
    state.calls.dump(c->info, c->context);
    if (!c->goes_on) {
        state.calls.end(c->context);
    }
}

/* While the thread is off the alternate stack, the kernel takes that for free until dump() disables it: the frame of
 * another signal would overwrite what this one has left there. */
static void block_all(void)
{
    const pp_signal_mask all = ~(pp_signal_mask)0;
    pp_signals_restore(&all);
}

static void dump_within_time(int signal, siginfo_t *info, void *context, bool goes_on)
{
    state.now = (crash){signal, info, context, goes_on, -1};
    set_timer();
    pp_apart_suspend();
    block_all();
    pp_call_on_stack(state.stack + STACK_BYTES, dump, NULL);
    pp_apart_resume();
    delete_timer();
}

static void handle_crash(int signal, siginfo_t *info, void *context)
{
    const pp_signal_action ours = {.handler = pp_crash_handle,
                                   .flags = SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
                                   .restorer = pp_signal_return,
                                   .mask = ~(pp_signal_mask)0};
    if (pp_dump_turn_wait(pp_task_self())) {
        pp_dump_turn_is_last();
        set_actions(&ours); /* from now on a handler of the program's would only disturb */
        dump_within_time(signal, info, context, false);
    }
    strike_again(signal, info);
}

/* Whether the kernel, without the library, would not end the process: the first process of a
 * container ignores what others send. */
static bool is_without_effect(const siginfo_t *info)
{
    return info->si_code <= 0 && pp_task_process() == 1;
}

void pp_crash_handle(int signal, siginfo_t *info, void *context)
{
    if (!pp_task_has_variables()) {
        strike_again(signal, info);
        return;
    }
    int saved_errno = errno;
    if (!state.calls.is_owner()) {
        strike_again(signal, info);
    } else if (!pp_dump_turn_is_of(pp_task_self())) {
        if (!is_without_effect(info)) {
            handle_crash(signal, info, context);
        }
    } else if (is_about_dump(info)) {
        end_dump(context);
    }
    errno = saved_errno;
}

void pp_crash_dump_only(siginfo_t *info, void *context)
{
    if (!pp_task_has_variables()) {
        return;
    }
    int saved_errno = errno;
    if (state.calls.is_owner() && pp_dump_turn_try(pp_task_self())) {
        dump_within_time(info->si_signo, info, context, true);
        pp_dump_turn_end();
    }
    errno = saved_errno;
}
