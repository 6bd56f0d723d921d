/* SPDX-License-Identifier: MIT
 *
 * thread_creation.h: who created a thread, and where.
 *
 * The creator's stack is taken each time, as Go does: a profile of threads is asked for when there
 * are too many already. Threads that were created at one place share one copy.
 *
 * Zone: HOOK, on the thread itself or its creator.
 * Owns: the stacks; 8 bytes of TLS, the thread's record (host/thread_table.h).
 */
#ifndef PP_HOST_THREAD_CREATION_H
#define PP_HOST_THREAD_CREATION_H

#include "store/stack_counts.h"

#include <stdint.h>

/* On its way from the creator to the new thread. */
typedef struct pp_thread_creation {
    const pp_stack_entry *stack; /* NULL = not known */
    int creator;
} pp_thread_creation;

/* On the creator, which called the function `leaf` of ours from `return_address`. */
pp_thread_creation pp_thread_creation_take(uintptr_t leaf, uintptr_t return_address);

/* On the new thread. */
void pp_thread_creation_begin(uintptr_t entry, const pp_thread_creation *creation);
void pp_thread_creation_end(void);

/* The calling thread is one of libpprof's own: no profile of threads shows it. */
void pp_thread_creation_disown(void);

/* In the child of fork. */
void pp_thread_creation_after_fork_in_child(void);

#endif
