/* SPDX-License-Identifier: MIT
 *
 * thread_creation.h: remembers which thread created a thread, and with which stack.
 *
 * As in Go, each creation takes the creator's stack: users ask for a profile of threads when there
 * are already too many threads. Threads that were created with the same stack share one copy.
 *
 * Zone: HOOK, on the thread itself or its creator.
 * Owns: the stacks; 8 bytes of TLS, the thread's record (threads/thread_table.h).
 */
#ifndef PP_THREADS_THREAD_CREATION_H
#define PP_THREADS_THREAD_CREATION_H

#include "store/stack_counts.h"

#include <stdint.h>

/* What the creator hands to the new thread. */
typedef struct pp_thread_creation {
    const pp_stack_entry *stack; /* NULL = not known */
    int creator;
} pp_thread_creation;

/* Takes the stack of the calling thread, the creator, which called our function `leaf` from
 * `return_address`. */
pp_thread_creation pp_thread_creation_take(uintptr_t leaf, uintptr_t return_address);

/* Make and remove the calling thread's record. `entry`: its start routine. The first of two calls
 * counts: a thread has one record. */
void pp_thread_creation_begin(uintptr_t entry, const pp_thread_creation *creation);
void pp_thread_creation_end(void);

/* Marks the calling thread as libpprof's own: no profile of threads shows it. A caller that has a
 * CPU profile leave the thread out, too, goes on with pp_hook_thread_leave() (host/hooks.h). */
void pp_thread_creation_disown(void);

/* In the child of fork. */
void pp_thread_creation_after_fork_in_child(void);

#endif
