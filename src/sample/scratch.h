/* SPDX-License-Identifier: MIT
 *
 * scratch.h: room for walks: the stack that is found, and what the walk works in.
 *
 * A signal handler has no room for a thousand frames on a stack that may be small. It borrows one
 * of a fixed set of buffers for the length of a walk. Only threads that are in a handler at this
 * moment hold one, so the set does not grow with the number of threads.
 *
 * Zone: SIGNAL.
 * Locks: none (one word, a bit for each buffer).
 * Owns: the buffers (.bss; pages that were never used cost nothing).
 */
#ifndef PP_SAMPLE_SCRATCH_H
#define PP_SAMPLE_SCRATCH_H

#include "unwind/walk.h"

#include <stdint.h>

enum {
    PP_SCRATCH_DEPTH =
        1024 /* frames; deeper stacks are truncated at the root and counted as such */
};

typedef struct pp_scratch {
    pp_walk_space space;
    pp_walk walk;
    uintptr_t pcs[PP_SCRATCH_DEPTH];
} pp_scratch;

/* A buffer, or NULL if all are in use. */
pp_scratch *pp_scratch_take(void);
void pp_scratch_give(const pp_scratch *buffer);

/* In the child of fork: whoever held a buffer does not exist. */
void pp_scratch_after_fork_in_child(void);

#endif
