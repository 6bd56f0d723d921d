/* SPDX-License-Identifier: MIT
 *
 * cpu_timers.h: the engine `timer`: one POSIX timer on the CPU clock of each thread.
 *
 * Zone: SIGNAL (system calls).
 * Locks: callers hold the lock of cpu_threads.c.
 * Owns: the timers.
 */
#ifndef PP_KINDS_CPU_CPU_TIMERS_H
#define PP_KINDS_CPU_CPU_TIMERS_H

#include "kinds/cpu/cpu_session.h"

#include <stdint.h>

/* The weight of a signal is 1 + overrun, or, after a hold, what is due on the CPU clock. */
extern const pp_cpu_engine pp_cpu_engine_timers;

/* Sets the greatest number of timers that exist at a time. */
void pp_cpu_timers_set_cap(uint32_t cap);

/* Forgets the timers in the child of fork: they are the parent's. */
void pp_cpu_timers_after_fork_in_child(void);

#endif
