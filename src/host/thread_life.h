/* SPDX-License-Identifier: MIT
 *
 * thread_life.h: the library follows a thread from its begin to its end: stack bounds, labels, its
 * creator, the samplers (host/sampler.h).
 *
 * Zone: NORMAL, on the thread itself.
 * Locks: those of the samplers.
 */
#ifndef PP_HOST_THREAD_LIFE_H
#define PP_HOST_THREAD_LIFE_H

#include "host/sampler.h"
#include "host/thread_creation.h"
#include "unwind/caller.h"

#include "pprof.h"

#include <stdint.h>

/* The calling thread's own stack is [limit, top): see unwind/stack_memory.h for what must hold. */
void pp_thread_declare_stack(uintptr_t limit, uintptr_t top);

/*
 * The calling thread is about to call its start routine `entry`, as if `caller` did. `labels`:
 * those of its creator, of which the thread takes over a reference.
 */
void pp_thread_begin(uintptr_t entry, const pp_caller *caller, pprof_labels *labels,
                     const pp_thread_creation *creation);

/* The calling thread, which loads the library, was there before. */
void pp_thread_was_there(void);

/* A reference to the calling thread's labels, for a thread that it creates; and what becomes of it
 * if that is not created. */
pprof_labels *pp_thread_labels(void);
void pp_thread_drop_labels(pprof_labels *labels);

/* The calling thread is about to end. */
void pp_thread_end(void);

#endif
