/* SPDX-License-Identifier: MIT
 *
 * scratch.h: room for walks: the stack that is found, and what the walk works in.
 *
 * A signal handler has no room for a thousand frames on a stack that may be small. It borrows one
 * of a fixed set of buffers for the length of a walk. Only threads that are in a handler at this
 * moment hold one, so the set does not grow with the number of threads.
 *
 * A walk inside malloc or a lock may never come to its end: a handler of the host may jump out of
 * it, or the thread is cancelled there. Such a borrower leaves its name: its thread and its stack
 * pointer. What it held is taken back when the thread borrows again further up the same stack, or
 * ends; if nobody saw the thread end, when all buffers are taken.
 *
 *   owner[i]   0 --> -thread id --> thread id --> 0       UNNAMED: of a handler of ours
 *                    about to       in use,
 *                    write sp       with sp
 *
 * Zone: SIGNAL.
 * Locks: none (a word for each buffer).
 * Owns: the buffers (.bss; pages that were never used cost nothing); 16 bytes of TLS.
 */
#ifndef PP_UNWIND_SCRATCH_H
#define PP_UNWIND_SCRATCH_H

#include "unwind/walk.h"

#include <stdint.h>

enum {
    PP_SCRATCH_DEPTH =
        1024 /* frames; deeper stacks are truncated at the root and counted as such */
};

typedef struct pp_scratch {
    uintptr_t sp, outer_sp; /* of the borrower, and of the one that it has interrupted */
    pp_walk_space space;
    pp_walk walk;
    uintptr_t pcs[PP_SCRATCH_DEPTH];
} pp_scratch;

/* A buffer, or NULL if all are in use. For a handler that no other handler, and no cancellation,
 * can interrupt. */
pp_scratch *pp_scratch_take(void);

/* The same for everybody else; `sp` is the stack pointer of whoever will give it back, or of the
 * caller of the hook. */
pp_scratch *pp_scratch_take_at(uintptr_t sp);

void pp_scratch_give(pp_scratch *buffer);

/* The calling thread is about to end: nothing that it held will be given back. */
void pp_scratch_thread_end(void);

/* In the child of fork: whoever held a buffer does not exist, but for the calling thread, which may
 * have forked in a handler that interrupted a walk. */
void pp_scratch_after_fork_in_child(void);

#endif
