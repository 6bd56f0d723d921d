/* SPDX-License-Identifier: MIT
 *
 * scratch.h: buffers for walks: room for the stack that is found, and for the walk to work in.
 *
 * A signal handler, whose stack may be small, has no room there for a thousand frames. It borrows
 * one of a fixed number of buffers for the length of a walk. Only threads that are in a walk hold
 * one, so that this number does not grow with the number of threads.
 *
 * A walk inside malloc or a lock may never end: a handler of the host may jump out of it, or the
 * thread may be cancelled there. So such a borrower has a name: its thread and its stack pointer.
 * Its buffer is taken back when the thread borrows again further up the same stack, or ends; or, if
 * no hook saw the thread end, when all buffers are taken.
 *
 *   owner[i]   0 --> -thread id --> thread id --> 0       UNNAMED: borrowed by a handler of samples
 *                    about to       in use,
 *                    write sp       with sp
 *
 * Zone: SIGNAL.
 * Locks: none (a word for each buffer).
 * Owns: the buffers (.bss; pages that were never touched cost nothing); 16 bytes of TLS.
 */
#ifndef PP_UNWIND_SCRATCH_H
#define PP_UNWIND_SCRATCH_H

#include "unwind/walk.h"

#include <stdint.h>

enum {
    PP_SCRATCH_DEPTH =
        1024 /* frames; a deeper stack is truncated at its root, and counted as truncated */
};

typedef struct pp_scratch {
    uintptr_t sp, outer_sp; /* of the borrower, and of the one that it has interrupted */
    pp_walk_space space;
    pp_walk walk;
    uintptr_t pcs[PP_SCRATCH_DEPTH];
} pp_scratch;

/* Borrows a buffer; NULL if all are in use. The caller is a handler that no other handler, and no
 * cancellation, can interrupt. */
pp_scratch *pp_scratch_take(void);

/* Borrows a buffer in all other code. `sp` is the stack pointer of the function that will give it
 * back, or of the caller of the hook. */
pp_scratch *pp_scratch_take_at(uintptr_t sp);

void pp_scratch_give(pp_scratch *buffer);

/* Takes back all buffers of the calling thread, which is about to end. */
void pp_scratch_thread_end(void);

/* Takes back, in the child of fork, the buffers of other threads. The calling thread keeps its own:
 * it may have forked in a handler that interrupted a walk. */
void pp_scratch_after_fork_in_child(void);

#endif
