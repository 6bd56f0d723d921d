/* SPDX-License-Identifier: MIT
 *
 * cpu_threads.h: the threads that are sampled, each with a slot and an account of its CPU time.
 *
 * Zone: SIGNAL (system calls and a try-lock), except where NORMAL is written.
 * Locks: its own, see cpu_session.h.
 * Owns: the slots.
 */
#ifndef PP_KINDS_CPU_CPU_THREADS_H
#define PP_KINDS_CPU_CPU_THREADS_H

#include "kinds/cpu/cpu_session.h"
#include "kinds/cpu/thread_roots.h"

/*
 * Reserves the slots, once. The cap on timers is a quarter of RLIMIT_SIGPENDING, which they share
 * with the host's own sigqueue(). 0 or -ENOMEM. NORMAL.
 */
int pp_cpu_threads_reserve(void);

/* Whether a signal's value is one of our slots. */
bool pp_cpu_threads_owns(const void *value);

/* Arms every thread of the process that is not armed yet, as the session's engine does. NORMAL.
 * Returns how many are armed. */
unsigned pp_cpu_threads_arm_all(void);

/* The same from the signal handler, if threads appeared that did not come through the hook; gives
 * up at once if somebody else is at it. */
void pp_cpu_threads_look_again(void);

/* The calling thread begins: `entry` is its start routine. NORMAL, in the new thread. */
void pp_cpu_threads_begin(uintptr_t entry, const pp_caller *caller);

/* The calling thread ends: settles its account and disarms it. NORMAL. The sampling signal
 * stays blocked. */
void pp_cpu_threads_end(void);

/* Settles all accounts and disarms all threads; does nothing if the lock is not to be had within
 * `patience_ns`. If the session is not `quiet`, a handler of it may still use a slot: they are not
 * given out again before that one has come back. NORMAL, and the fatal-signal writer. */
void pp_cpu_threads_disarm_all(uint64_t patience_ns, bool quiet);

/* Before a start: the slots that late handlers kept, as far as these have come back. NORMAL. */
void pp_cpu_threads_take_back_slots(void);

/* The calling thread gets no signals for a while; its account goes on, and what was due meanwhile
 * is settled when they come again. HOOK: gives up if the lock is not to be had. */
void pp_cpu_threads_pause(void);

/*
 * It is about to set up an alternate stack, and gets no signal for 2 ms of its CPU time. The stack
 * may be about to become that of a coroutine: a signal is sent there, whose handler saves its place
 * and returns, and only then the alternate stack is taken away (the way of GNU Pth and of QEMU). A
 * signal of ours in between would be put on the frames that the coroutine comes back to. HOOK:
 * gives up if the lock is not to be had.
 */
void pp_cpu_threads_hold(void);
void pp_cpu_threads_resume(void);

/*
 * The calling thread is about to execute another program: of its perf event nothing may be pending
 * then. Back from a call that failed, the event goes on. HOOK: gives up if the lock is not to be
 * had.
 */
void pp_cpu_threads_before_exec(void);
void pp_cpu_threads_after_failed_exec(void);

/* Forgets all timers without touching them: they are the parent's. Closes what was inherited. */
void pp_cpu_threads_after_fork_in_child(void);

#endif
