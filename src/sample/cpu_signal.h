/* SPDX-License-Identifier: MIT
 *
 * cpu_signal.h: the SIGPROF handler of the CPU sampler.
 *
 * Zone: SIGNAL; install is NORMAL.
 * Locks: none.
 * Owns: the disposition of SIGPROF from the first start to the end of the process.
 */
#ifndef PP_SAMPLE_CPU_SIGNAL_H
#define PP_SAMPLE_CPU_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/*
 * Takes over SIGPROF: SA_RESTART, on the stack of the interrupted thread (a small alternate stack
 * would not hold us). A signal that is not of our timers is passed on to the host's handler, or
 * treated as SIG_DFL and SIG_IGN would. Once installed it stays: a late signal must find a handler.
 * 0 or -errno. NORMAL.
 */
int pp_cpu_signal_install(void);

/* Whether the handler of SIGPROF is (still) ours, as the kernel sees it. */
bool pp_cpu_signal_installed(void);

/* Whether SIGPROF was taken over: the host's wishes go to the next function from then on. */
bool pp_cpu_signal_owned(void);

/* What sigaction(SIGPROF, action, old) does for the host then: remembers, and tells, what is to
 * happen to signals that are not ours. */
void pp_cpu_signal_host_action(const struct sigaction *action, struct sigaction *old);

/*
 * Whether SIGPROF must stay open in every thread: it is ours, and the host has no handler for it
 * that could be surprised. Then a host that blocks it is told that it did (hook/masks.c), and the
 * thread's flag remembers.
 */
bool pp_cpu_signal_must_be_open(void);
bool pp_cpu_signal_host_blocks(void);
void pp_cpu_signal_set_host_blocks(bool blocks);

/* Opens SIGPROF in the calling thread if it must be open and is not. */
void pp_cpu_signal_open(void);

/* In the child of fork: gives SIGPROF back to the host's action. No timer was inherited. */
void pp_cpu_signal_after_fork_in_child(void);

#endif
