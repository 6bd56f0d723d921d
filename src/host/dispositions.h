/* SPDX-License-Identifier: MIT
 *
 * dispositions.h: the hooks of sigaction, signal and their like, and the handlers that the library
 * has where the program wants a signal's default action.
 *
 * Zone: HOOK.
 * Locks: one, with all signals blocked.
 * Owns: the handlers of SIGTERM, SIGINT, SIGIO and the signals of crashes, where the program wants
 *       the default action.
 */
#ifndef PP_HOST_DISPOSITIONS_H
#define PP_HOST_DISPOSITIONS_H

#include <signal.h>
#include <stdbool.h>

/* Called once when the library is loaded. */
void pp_hook_dispositions_init(void);

/*
 * From now on SIGTERM and SIGINT, where their action is the default one, first call at_end
 * (process.h). They are raised again after that, so that the parent sees the signal. A program that
 * asks for their action still reads SIG_DFL; a program that sets its own handler replaces ours.
 */
void pp_hook_fatal_signals(void);

/*
 * From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, where their action is the default one,
 * first call dump() and at_end (crash/crash.h). `quit`: SIGQUIT calls dump() too, and the program
 * goes on. dump() runs in the signal's handler, on any thread, at any point; `info` and
 * `interrupted` are the handler's siginfo_t and ucontext_t. 0 or -ENOMEM.
 */
int pp_hook_crashes(bool quit, void (*dump)(const siginfo_t *info, const void *interrupted));

/* The child of fork does not dump: restores the default actions of these signals. */
void pp_hook_give_crashes_back(void);

/*
 * From now on SIGIO, where its action is the default one, does not end the process if the kernel
 * sends it. Needed before the first perf event: where the queue of signals is full
 * (RLIMIT_SIGPENDING), the kernel sends SIGIO in the place of the event's own signal.
 */
void pp_hook_overflow_signal(void);

/* Restores the default actions that our handlers replaced. A program that is about to confine
 * itself needs that: our handlers make system calls that its filter may forbid. */
void pp_hook_give_defaults_back(void);

/* In the child of fork. */
void pp_hook_dispositions_after_fork(void);

#endif
