/* SPDX-License-Identifier: MIT
 *
 * dispositions.c: sigaction, signal and their like, for signals whose default action would harm a
 * profile.
 *
 *   SIGTERM, SIGINT   the handler writes the profile, and then ends the process by the same signal
 *   SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT
 *                     with `crash`: the handler writes all stacks and the profiles (crash/crash.h)
 *   SIGQUIT           with `crash=quit`: the handler writes all stacks, and the program goes on
 *   SIGIO             with engine=perf: where the user's queue of signals is full, the kernel sends
 *                     SIGIO in the place of an event's signal; the process must not end then
 *
 * A stand-in is a handler of ours where the program has, or wants, the default action. The program
 * still reads SIG_DFL: Python, for one, asks whether SIGINT is at SIG_DFL before it makes Ctrl-C a
 * KeyboardInterrupt. A hook calls the real function first. If the default action is in force after
 * that, the hook installs the stand-in with the flags and the mask that the program gave, so that
 * the kernel stores them for us. The stand-in only lacks SA_NODEFER and, where
 * it needs room, SA_ONSTACK.
 *
 * All other signals go straight to the real functions, SIGPROF too (docs/SIGNALS.md).
 *
 * Zone: HOOK. The program may call all of these from its signal handlers.
 * Locks: `changing`, with signals blocked: the kernel's action is read and written in two steps.
 * Owns: the stand-ins.
 * Tested by: e2e.fatal_signals, e2e.signal_calls, e2e.perf, e2e.crash
 */
#include "host/dispositions.h"

#include "arch/shown_as.h"
#include "arch/system_call.h"
#include "crash/crash.h"
#include "crash/crash_stacks.h"
#include "crash/dump_turn.h"
#include "host/process.h"
#include "host/real.h"
#include "modules/late.h"
#include "sys/lock.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"

#include <errno.h>
#include <signal.h>

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t signal_function(int, sighandler_t);
typedef void handler_function(int, siginfo_t *, void *);

typedef struct stand_in {
    int signal;
    int flags;               /* that the stand-in needs; the program does not see them */
    handler_function *first; /* the program has never set the action: it sees no flags at all */
    handler_function *later;
} stand_in;

enum { FATAL = 2, OVERFLOW = 1, QUIT = 1, STAND_INS = FATAL + OVERFLOW + QUIT + PP_CRASH_SIGNALS };

static struct {
    pp_lock changing;
    bool wanted[STAND_INS];
    void *real_sigaction;
    void *real_signal;
    void *real_bsd_signal;
    void *real_sysv_signal;
    void *real_sigset;
} state;

static int call_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    sigaction_function *real = (sigaction_function *)pp_real(&state.real_sigaction, "sigaction");
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return real(signal, action, old);
}

/* ---- the stand-ins ---- */

/* The signal is blocked while its handler runs: it strikes when the handler returns, and finds the
 * state in which the program was. */
static void do_default(int signal)
{
    const pp_signal_action fatal = {.handler = NULL}; /* SIG_DFL */
    if (!pp_signal_action_change(signal, &fatal, NULL)) {
        pp_system_call(SYS_exit_group, PP_STATUS_OF_SIGNAL + signal); /* a filter refuses it */
    }
    pp_system_call(SYS_tgkill, pp_system_call(SYS_getpid), pp_system_call(SYS_gettid), signal);
}

static void end_with_profile(int signal, const void *context)
{
    if (!pp_task_has_variables()) {
        do_default(signal);
        return;
    }
    int saved_errno = errno;
    pp_hook_tell_end(context);
    do_default(signal);
    errno = saved_errno;
}

static void on_fatal_signal(int signal, siginfo_t *info, void *context)
{
    (void)info;
    end_with_profile(signal, context);
}

static void on_first_fatal_signal(int signal, siginfo_t *info, void *context)
{
    (void)info;
    end_with_profile(signal, context);
}

static void ignore_overflow(int signal, const siginfo_t *info)
{
    if (info->si_code != SI_KERNEL) {
        do_default(signal);
    }
}

static void on_overflow(int signal, siginfo_t *info, void *context)
{
    (void)context;
    ignore_overflow(signal, info);
}

static void on_first_overflow(int signal, siginfo_t *info, void *context)
{
    (void)context;
    ignore_overflow(signal, info);
}

static void on_crash(int signal, siginfo_t *info, void *context)
{
    pp_crash_handle(signal, info, context);
}

static void on_first_crash(int signal, siginfo_t *info, void *context)
{
    pp_crash_handle(signal, info, context);
}

static void on_quit(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    pp_crash_dump_only(info, context);
}

static void on_first_quit(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    pp_crash_dump_only(info, context);
}

PP_NOT_SHOWN(on_fatal_signal);
PP_NOT_SHOWN(on_first_fatal_signal);
PP_NOT_SHOWN(on_overflow);
PP_NOT_SHOWN(on_first_overflow);
PP_NOT_SHOWN(on_crash);
PP_NOT_SHOWN(on_first_crash);
PP_NOT_SHOWN(on_quit);
PP_NOT_SHOWN(on_first_quit);

enum { CRASH_FLAGS = SA_SIGINFO | SA_ONSTACK };

/* Without SA_SIGINFO the kernel of aarch64 gives a handler no context. */
static const stand_in stand_ins[STAND_INS] = {
    {SIGTERM, SA_SIGINFO, on_first_fatal_signal, on_fatal_signal},
    {SIGINT, SA_SIGINFO, on_first_fatal_signal, on_fatal_signal},
    {SIGIO, SA_SIGINFO | SA_RESTART, on_first_overflow, on_overflow},
    {SIGQUIT, CRASH_FLAGS | SA_RESTART, on_first_quit, on_quit},
    {SIGSEGV, CRASH_FLAGS, on_first_crash, on_crash},
    {SIGBUS, CRASH_FLAGS, on_first_crash, on_crash},
    {SIGFPE, CRASH_FLAGS, on_first_crash, on_crash},
    {SIGILL, CRASH_FLAGS, on_first_crash, on_crash},
    {SIGABRT, CRASH_FLAGS, on_first_crash, on_crash},
};

static const stand_in *find_stand_in(int signal)
{
    for (size_t i = 0; i < STAND_INS; i++) {
        if (stand_ins[i].signal == signal && __atomic_load_n(&state.wanted[i], __ATOMIC_ACQUIRE)) {
            return &stand_ins[i];
        }
    }
    return NULL;
}

/* The kernel goes by the handler's value, whatever SA_SIGINFO says. */
static bool is_default(const struct sigaction *action)
{
    return action->sa_handler == SIG_DFL;
}

static void replace_default(const stand_in *s, handler_function *handler)
{
    struct sigaction now;
    if (call_sigaction(s->signal, NULL, &now) == 0 && is_default(&now)) {
        now.sa_sigaction = handler;
        now.sa_flags = (now.sa_flags & ~(SA_ONSTACK | SA_NODEFER)) | s->flags;
        call_sigaction(s->signal, &now, NULL);
    }
}

/* Makes of the kernel's action the one that the program sees. True if these are not the same. */
static bool hide(const stand_in *s, struct sigaction *action)
{
    bool first = action->sa_sigaction == s->first;
    bool later = action->sa_sigaction == s->later;
    if (first) {
        *action = (struct sigaction){.sa_handler = SIG_DFL};
    } else if (later) {
        action->sa_handler = SIG_DFL;
        action->sa_flags &= ~s->flags;
    }
    return first || later;
}

static void want(int signal)
{
    pp_signal_mask old = 0;
    for (size_t i = 0; i < STAND_INS; i++) {
        const stand_in *s = &stand_ins[i];
        if (s->signal == signal && !state.wanted[i]) {
            pp_lock_enter(&state.changing, pp_task_self(), &old);
            __atomic_store_n(&state.wanted[i], true, __ATOMIC_RELEASE);
            replace_default(s, s->first);
            pp_lock_leave(&state.changing, &old);
        }
    }
}

void pp_hook_fatal_signals(void)
{
    pp_hook_expect_end();
    if (pp_late_is() || pp_system_call(SYS_getpid) == 1) {
        return; /* the program was not started with us; or the first process of a container: the
                 * default action does not end it */
    }
    want(SIGTERM);
    want(SIGINT);
}

void pp_hook_overflow_signal(void)
{
    want(SIGIO);
}

int pp_hook_crashes(bool quit, void (*dump)(const siginfo_t *info, const void *interrupted))
{
    const pp_crash_calls calls = {pp_hook_is_owner, dump, pp_hook_tell_end};
    int error = pp_crash_prepare(&calls);
    if (error != 0) {
        return error;
    }
    pp_crash_stacks_want();
    for (size_t i = 0; i < PP_CRASH_SIGNALS; i++) {
        want(pp_crash_signals[i]);
    }
    if (quit) {
        want(SIGQUIT);
    }
    return 0;
}

static void give_back(size_t first)
{
    pp_signal_mask old = 0;
    struct sigaction now;
    pp_lock_enter(&state.changing, pp_task_self(), &old);
    for (size_t i = first; i < STAND_INS; i++) {
        const stand_in *s = &stand_ins[i];
        if (state.wanted[i] && call_sigaction(s->signal, NULL, &now) == 0 && hide(s, &now)) {
            call_sigaction(s->signal, &now, NULL);
        }
        __atomic_store_n(&state.wanted[i], false, __ATOMIC_RELEASE);
    }
    pp_lock_leave(&state.changing, &old);
    pp_crash_stacks_stop();
}

void pp_hook_give_crashes_back(void)
{
    give_back(FATAL + OVERFLOW);
}

void pp_hook_give_defaults_back(void)
{
    give_back(0);
}

void pp_hook_dispositions_after_fork(void)
{
    pp_lock_release(&state.changing);
    pp_dump_turn_after_fork();
}

/* ---- the hooks ---- */

static sighandler_t hide_handler(const stand_in *s, sighandler_t handler)
{
    handler_function *function = (handler_function *)(uintptr_t)handler;
    return s != NULL && (function == s->first || function == s->later) ? SIG_DFL : handler;
}

/* False in a child of vfork: the lock is in its parent's memory, and the child may end at any
 * time. */
static bool may_replace(const stand_in *s)
{
    return s != NULL && pp_hook_is_owner();
}

/* libc's header has its own names for these. */
__attribute__((visibility("default"))) int
sigaction(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
          int signal, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    const stand_in *s = find_stand_in(signal);
    pp_signal_mask mask = 0;
    int result = 0;
    if (may_replace(s)) {
        pp_lock_enter(&state.changing, pp_task_self(), &mask);
        result = call_sigaction(signal, action, old);
        if (result == 0 && action != NULL) {
            replace_default(s, s->later);
        }
        pp_lock_leave(&state.changing, &mask);
    } else {
        result = call_sigaction(signal, action, old);
    }
    if (s != NULL && result == 0 && old != NULL) {
        hide(s, old);
    }
    return result;
}

static sighandler_t set_handler(void **slot, const char *name, int signal, sighandler_t handler)
{
    signal_function *real = (signal_function *)pp_real(slot, name);
    const stand_in *s = find_stand_in(signal);
    pp_signal_mask mask = 0;
    if (real == NULL) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    if (!may_replace(s)) {
        return hide_handler(s, real(signal, handler));
    }
    pp_lock_enter(&state.changing, pp_task_self(), &mask);
    sighandler_t old = real(signal, handler);
    replace_default(s, s->later);
    pp_lock_leave(&state.changing, &mask);
    return hide_handler(s, old);
}

__attribute__((visibility("default"))) sighandler_t
signal(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
       int number, sighandler_t handler)
{
    return set_handler(&state.real_signal, "signal", number, handler);
}

/* bsd_signal() is the signal() of programs that are compiled for XPG. */
sighandler_t bsd_signal(int number, sighandler_t handler);
__attribute__((visibility("default"))) sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return set_handler(&state.real_bsd_signal, "bsd_signal", number, handler);
}

/* ssignal() is another name of signal(). */
__attribute__((visibility("default"))) sighandler_t
ssignal(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
        int number, sighandler_t handler)
{
    return set_handler(&state.real_signal, "signal", number, handler);
}

/* __sysv_signal() is the signal() of programs that are compiled only for C99 or an old POSIX. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set_handler(&state.real_sysv_signal, "__sysv_signal", number, handler);
}

__attribute__((visibility("default"))) sighandler_t
sysv_signal(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
            int number, sighandler_t handler)
{
    return set_handler(&state.real_sysv_signal, "__sysv_signal", number, handler);
}

/* sigset() reads and changes the thread's mask, which must be the program's own then: so the hook
 * takes the lock after the real call. */
__attribute__((visibility("default"))) sighandler_t
sigset(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
       int number, sighandler_t handler)
{
    signal_function *real = (signal_function *)pp_real(&state.real_sigset, "sigset");
    const stand_in *s = find_stand_in(number);
    pp_signal_mask mask = 0;
    if (real == NULL) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    sighandler_t old = real(number, handler);
    if (may_replace(s)) {
        pp_lock_enter(&state.changing, pp_task_self(), &mask);
        replace_default(s, s->later);
        pp_lock_leave(&state.changing, &mask);
    }
    return hide_handler(s, old);
}

void pp_hook_dispositions_init(void)
{
    pp_real(&state.real_sigaction, "sigaction");
    pp_real(&state.real_signal, "signal");
    pp_real(&state.real_bsd_signal, "bsd_signal");
    pp_real(&state.real_sysv_signal, "__sysv_signal");
    pp_real(&state.real_sigset, "sigset");
}
