/* SPDX-License-Identifier: MIT
 *
 * cpu_perf.h: the engine `perf`: beside its timer each thread gets a perf event on its task clock,
 * whose overflows are signals at up to 10 kHz, where timers are seen at the kernel's ticks only.
 *
 * Zone: SIGNAL (system calls alone), except where NORMAL is written.
 * Locks: the caller's: arm and disarm run under the lock of cpu_threads.c.
 * Owns: the events and their descriptors, as long as the host lets us have them.
 */
#ifndef PP_KINDS_CPU_CPU_PERF_H
#define PP_KINDS_CPU_CPU_PERF_H

#include "kinds/cpu/cpu_session.h"

#include <signal.h>
#include <stdbool.h>

/*
 * Timers and events together. A thread whose event is refused has its timer, a thread whose timer
 * is refused its event; arming fails only if both are. Which were refused stands in the session.
 */
extern const pp_cpu_engine pp_cpu_engine_perf;

/*
 * Before the threads of a session are armed: finds out which descriptors may be used (a quarter of
 * RLIMIT_NOFILE, from its upper end, or from 3072 where there are many). `refused` is 0, or the
 * -errno with which a sandbox forbids events: then none is asked for. NORMAL.
 */
void pp_cpu_perf_reserve(int refused);

/*
 * Whether the signal came from an event of ours, also from one that has been closed since. The slot
 * is the one that has the descriptor now; on_signal checks that it is the calling thread's.
 */
bool pp_cpu_perf_owns(const siginfo_t *info, pp_cpu_slot **slot);

/* Whether the descriptor is that of an event of ours. */
bool pp_cpu_perf_has(int fd);

/* Whether the signal may be an event's though it is not one of ours: of an event that the program
 * had which executed this one. */
bool pp_cpu_perf_may_have_sent(const siginfo_t *info);

/* The slot's thread is about to be armed anew: a refusal is not counted twice. */
void pp_cpu_perf_recount(const pp_cpu_slot *slot);

/* Whether a thread of this process has or had an event, and nothing has been heard of a filter for
 * system calls since. */
bool pp_cpu_perf_was_used(void);

/* The host puts itself under such a filter: nothing is done around an exec any more. */
void pp_cpu_perf_confine(void);

/*
 * Stops the event of the calling thread (`slot` may be NULL) and takes back its signal if that is
 * pending; starts it again. All signals are blocked.
 */
void pp_cpu_perf_pause(const pp_cpu_slot *slot);
void pp_cpu_perf_resume(const pp_cpu_slot *slot);

/* In the child of fork: closes its copies of the parent's descriptors. */
void pp_cpu_perf_after_fork_in_child(pp_cpu_slot *slot);

#endif
