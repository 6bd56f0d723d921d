/* SPDX-License-Identifier: MIT
 *
 * thread_life.h: follows a thread from its begin to its end: stack bounds, labels, creator, and the
 * samplers (host/sampler.h).
 *
 * Zone: NORMAL, on the thread itself.
 * Locks: those of the samplers.
 */
#ifndef PP_HOST_THREAD_LIFE_H
#define PP_HOST_THREAD_LIFE_H

#include "host/sampler.h"
#include "threads/thread_creation.h"
#include "unwind/caller.h"

#include "pprof.h"

#include <stdint.h>

/* Declares that the calling thread's own stack is [limit, top). The conditions are in
 * unwind/stack_memory.h. */
void pp_thread_declare_stack(uintptr_t limit, uintptr_t top);

/*
 * The calling thread is about to call its start routine `entry`, as if `caller` did. `labels`: its
 * creator's labels; the thread takes over the caller's reference.
 */
void pp_thread_begin(uintptr_t entry, const pp_caller *caller, pprof_labels *labels,
                     const pp_thread_creation *creation);

/* The calling thread loads the library: it was there before. */
void pp_thread_was_there(void);

/* Returns a reference to the calling thread's labels, for a thread that it creates; gives the
 * reference back if the thread could not be created. */
pprof_labels *pp_thread_labels(void);
void pp_thread_drop_labels(pprof_labels *labels);

/* The calling thread is about to end. */
void pp_thread_end(void);

/* The calling thread becomes libpprof's own: no profile shows it from now on. Threads call
 * pp_hook_thread_leave() (host/threads.h). */
void pp_thread_leave(void);

#endif
