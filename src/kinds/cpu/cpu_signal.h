/* SPDX-License-Identifier: MIT
 *
 * cpu_signal.h: the handler of the sampling signal (sys/sampling_signal.h).
 *
 * Zone: SIGNAL; install and reinstall are NORMAL.
 * Locks: one of its own.
 * Owns: the action of that signal, from the first start to the end of the process.
 */
#ifndef PP_KINDS_CPU_CPU_SIGNAL_H
#define PP_KINDS_CPU_CPU_SIGNAL_H

#include <stdbool.h>

/*
 * Takes over the sampling signal, and opens it in the calling thread. SA_RESTART; SA_ONSTACK, since
 * the stacks of coroutines and goroutines have no room for a signal, and their threads have an
 * alternate one. A signal that is none of ours is passed on to libc's handler, or ends the process
 * as it would without us. Once installed the handler stays: a late signal must find one. 0 or
 * -errno. NORMAL.
 */
int pp_cpu_signal_install(void);

/* libc may have put its own handler there (pthread_cancel). Ours comes back, if it ever was there.
 * NORMAL. */
void pp_cpu_signal_reinstall(void);

/* libc's handler comes back for a moment, until as many have stepped back as aside. Signals of ours
 * that strike then are lost. NORMAL. */
void pp_cpu_signal_step_aside(void);
void pp_cpu_signal_step_back(void);

/* Whether the handler is (still) ours, as the kernel sees it. */
bool pp_cpu_signal_installed(void);

/* The calling thread's slot is given up: it may be another thread's soon. */
void pp_cpu_signal_forget_slot(void);

/* In the child of fork. The handler stays; no timer was inherited. */
void pp_cpu_signal_after_fork_in_child(void);

#endif
