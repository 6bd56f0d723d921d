/* SPDX-License-Identifier: MIT
 *
 * cpu_threads.h: arms and disarms the threads that are sampled. Each has a slot, with an account of
 * its CPU time (cpu_session.h).
 *
 * Zone: SIGNAL (system calls and a try-lock), except where NORMAL is written.
 * Locks: `lock` of cpu_threads.c.
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

/* The slots of all threads. */
pp_cpu_slots pp_cpu_threads_slots(void);

/* Whether a signal's value is the address of a slot. */
bool pp_cpu_threads_owns(const void *value);

/* Arms, by the session's engine, every thread of the process that is not armed yet. Returns the
 * number of threads that are armed. NORMAL. */
unsigned pp_cpu_threads_arm_all(void);

/*
 * Does the same from the signal handler, four times a second, if there are threads that no hook saw
 * begin: by five looks, for others are about to begin or to end. Gives up at once if another thread
 * has the lock. The list of threads is read apart (sys/apart.h), and the caller waits for that: so this
 * does nothing while a thread of the library looks instead.
 */
void pp_cpu_threads_look_again(uint64_t now_ns);

/* A thread of the library begins to look instead, looks, and ends. NORMAL. */
void pp_cpu_threads_looker_begins(void);
void pp_cpu_threads_looker_looks(void);
void pp_cpu_threads_looker_ends(void);

/* Opens the calling thread's account when the thread begins. `entry` is its start routine. NORMAL.
 */
void pp_cpu_threads_begin(uintptr_t entry, const pp_caller *caller);

/* Settles the calling thread's account when the thread ends, and disarms it. The sampling signal
 * stays blocked. NORMAL. */
void pp_cpu_threads_end(void);

/* Thread `tid` has waited for a processor: its next sample shows where. False if the thread is not
 * sampled. */
bool pp_cpu_threads_preempted(int tid, int64_t ns);

/* Shows what threads have waited for a processor since their last samples at the stacks of these,
 * without labels: the next sample would show it with its own. NORMAL. */
void pp_cpu_threads_show_preempted(void);

/* Settles all accounts and disarms all threads; does nothing if it cannot take the lock within
 * `patience_ns`. If the session is not `quiet`, a late handler of it may still use any slot: none
 * is given out again before that handler has come back. NORMAL, and the fatal-signal writer. */
void pp_cpu_threads_disarm_all(uint64_t patience_ns, bool quiet);

/* Takes back, before a start, the slots that late handlers have kept, if these handlers have come
 * back. NORMAL. */
void pp_cpu_threads_take_back_slots(void);

/* Sends the calling thread no signals until pp_cpu_threads_resume(). Its account goes on, and what
 * was due meanwhile is settled then. HOOK: gives up if the lock's holder is gone. */
void pp_cpu_threads_pause(void);
void pp_cpu_threads_resume(void);

/*
 * Sends the calling thread no signal for 2 ms of its CPU time: it is about to set up an alternate
 * stack. That stack may become the stack of a coroutine, as GNU Pth and QEMU do it: the program
 * sends itself a signal, whose handler saves its place on the stack and returns, and only then
 * disables the alternate stack. A sampling signal in between would overwrite the frames to which
 * the coroutine comes back. HOOK: gives up if the lock's holder is gone.
 */
void pp_cpu_threads_hold(void);

/*
 * Stops the calling thread's perf event before the thread executes another program, so that no
 * signal of the event is pending then. After a failed exec the second function lets the event go
 * on. HOOK: gives up if it cannot take the lock.
 */
void pp_cpu_threads_before_exec(void);
void pp_cpu_threads_after_failed_exec(void);

/* Forgets all timers in the child of fork, without deleting them: they are the parent's. Closes the
 * descriptors that were inherited. */
void pp_cpu_threads_after_fork_in_child(void);

#endif
