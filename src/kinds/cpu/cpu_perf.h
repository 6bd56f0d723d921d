/* SPDX-License-Identifier: MIT
 *
 * cpu_perf.h: the engine `perf`: each thread has a timer, and beside it a perf event on its task
 * clock. The event's overflows are signals at up to 10 kHz; the kernel looks at timers only at its
 * ticks.
 *
 * Zone: SIGNAL (only system calls), except where NORMAL is written.
 * Locks: callers of arm and disarm hold the lock of cpu_threads.c.
 * Owns: the events and their descriptors, as long as the host does not close them.
 */
#ifndef PP_KINDS_CPU_CPU_PERF_H
#define PP_KINDS_CPU_CPU_PERF_H

#include "kinds/cpu/cpu_session.h"

#include <signal.h>
#include <stdbool.h>

/*
 * Arms a timer and an event. If one of them is refused, the thread has the other; arming fails only
 * if both are refused. The session counts the refusals.
 */
extern const pp_cpu_engine pp_cpu_engine_perf;

/*
 * Finds out which descriptors may be used (a quarter of RLIMIT_NOFILE, from its upper end, or from
 * 3072 where there are many). Is called before the threads of a session are armed. `refused` is 0,
 * or the -errno with which a sandbox forbids events: then none is opened. NORMAL.
 */
void pp_cpu_perf_reserve(int refused);

/*
 * Whether the signal came from an event of this engine, or from one that has been closed since.
 * *slot is the slot that has the descriptor now; on_signal checks that it is the calling thread's.
 */
bool pp_cpu_perf_owns(const siginfo_t *info, pp_cpu_slot **slot);

/* Whether the descriptor is that of an event of this engine. */
bool pp_cpu_perf_has(int fd);

/* Whether the signal may come from an event that is not this engine's: from one of the program that
 * executed this one. */
bool pp_cpu_perf_may_have_sent(const siginfo_t *info);

/* Takes back the count of the slot's refusal. Is called before its thread is armed anew. */
void pp_cpu_perf_recount(const pp_cpu_slot *slot);

/* Whether a thread of this process has or had an event, and pp_cpu_perf_confine() was not called
 * since. */
bool pp_cpu_perf_was_used(void);

/* Makes pp_cpu_perf_was_used() false: the host puts itself under a filter for system calls, so
 * nothing is done around an exec any more. */
void pp_cpu_perf_confine(void);

/*
 * Stops the event of the calling thread (`slot` may be NULL) and removes its signal if that is
 * pending. The second function starts the event again. The caller has blocked all signals.
 */
void pp_cpu_perf_pause(const pp_cpu_slot *slot);
void pp_cpu_perf_resume(const pp_cpu_slot *slot);

/* Closes, in the child of fork, the slot's copy of the parent's descriptor. */
void pp_cpu_perf_after_fork_in_child(pp_cpu_slot *slot);

#endif
