/* SPDX-License-Identifier: MIT
 *
 * cpu_timers.h: the engine `timer`: one POSIX timer on the CPU clock of each thread.
 *
 * Zone: SIGNAL (system calls).
 * Locks: callers hold the lock of cpu_threads.c, but those of pp_cpu_timers_rest(): a handler calls it.
 * Owns: the timers.
 */
#ifndef PP_KINDS_CPU_CPU_TIMERS_H
#define PP_KINDS_CPU_CPU_TIMERS_H

#include "kinds/cpu/cpu_session.h"

#include <stdint.h>

/* The weight of a signal is 1 + overrun, or, after a hold or a slow handler, what is due on the CPU clock. */
extern const pp_cpu_engine pp_cpu_engine_timers;

/*
 * Lets the calling thread have the processor for itself after a handler that took `took_ns` until `now_ns` (both on its CPU
 * clock): if this one and the slow one before it took more than half a period, for as long as the quicker of them. A
 * hypervisor that takes the processor away makes a single one look slow; each quick one between them halves the first.
 * Until then the timer is put off, and a signal that is pending has no weight. What becomes due meanwhile is in the weight
 * of the next sample.
 */
void pp_cpu_timers_rest(pp_cpu_slot *slot, uint64_t now_ns, uint64_t took_ns);

/* Sets the greatest number of timers that exist at a time. */
void pp_cpu_timers_set_cap(uint32_t cap);

/* Forgets the timers in the child of fork: they are the parent's. */
void pp_cpu_timers_after_fork_in_child(void);

#endif
