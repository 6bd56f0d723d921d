/* SPDX-License-Identifier: MIT
 *
 * thread.h: what the samplers do when a thread begins and ends.
 *
 * Zone: NORMAL, on the thread itself.
 * Locks: those of the samplers (cpu_timers.h).
 * Owns: nothing.
 */
#ifndef PP_SAMPLE_THREAD_H
#define PP_SAMPLE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread's own stack is [limit, top): see unwind/stack_memory.h for what must hold. */
void pp_thread_declare_stack(uintptr_t limit, uintptr_t top);

/*
 * The calling thread is about to call its start routine `entry`. `prof_blocked`: its creator
 * believes SIGPROF to be blocked, so this thread will too.
 */
void pp_thread_begin(uintptr_t entry, bool prof_blocked);

/* What the calling thread believes of SIGPROF although it is open to us. */
bool pp_thread_believes_prof_blocked(void);

/* The calling thread is about to end. */
void pp_thread_end(void);

#endif
