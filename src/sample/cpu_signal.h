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

#include <stdbool.h>

/*
 * Takes over SIGPROF: SA_RESTART, on the stack of the interrupted thread (a small alternate stack
 * would not hold us). A signal that is not of our timers is passed on to the handler found here, or
 * treated as SIG_DFL and SIG_IGN would. Once installed it stays: a late signal must find a handler.
 * 0 or -errno. NORMAL.
 */
int pp_cpu_signal_install(void);

/* Whether the handler of SIGPROF is (still) ours. NORMAL. */
bool pp_cpu_signal_installed(void);

#endif
