/* SPDX-License-Identifier: MIT
 *
 * walk_other.h: walks the stack of another thread.
 *
 * The thread waits in the kernel, and of its registers only PC and SP are known. The walk copies
 * the thread's stack, most of it at once, and walks in the copy, so that it does no harm if the
 * thread ends and its stack is unmapped. Afterwards the caller has to check that the thread did not
 * run meanwhile.
 *
 * Zone: SIGNAL: takes no lock, allocates nothing, never faults.
 */
#ifndef PP_UNWIND_WALK_OTHER_H
#define PP_UNWIND_WALK_OTHER_H

#include "unwind/frame_pointer.h"
#include "unwind/walk.h"
#include "unwind/walk_space.h"

#include <stdint.h>

enum { PP_OTHER_IMAGE_BYTES = 4096 };

/* The last frame that a walk came to. */
typedef struct pp_last_frame {
    uintptr_t pc; /* return-like */
    uintptr_t sp;
    uintptr_t fp, bx; /* 0 = not known */
} pp_last_frame;

/* Begins as zeros, but for the target, and serves for many walks, until a module is unloaded. */
typedef struct pp_other_space {
    const pp_walk_target *target; /* the threads' process; NULL: this one */
    pp_walk_space space;
    pp_fp_search search;
    pp_last_frame last; /* of the last walk */
    uint8_t image[PP_OTHER_IMAGE_BYTES] __attribute__((aligned(16)));
} pp_other_space;

/* Walks from `pc` and `sp`. Of the inputs in `walk`, only pcs and capacity count. */
void pp_walk_other(uintptr_t pc, uintptr_t sp, pp_other_space *space, pp_walk *walk);

/*
 * Walks from the frame of a caller on a stack that ends at `end`, that nobody unmaps meanwhile, and
 * that is read in place. A thread may begin to run on it: then the result is of no use, and the
 * caller has to know.
 */
void pp_walk_other_caller(const pp_caller *caller, uintptr_t end, pp_other_space *space,
                          pp_walk *walk);

/* Walks from all registers of a thread that was interrupted. `image` is a copy of its stack from
 * that moment, from SP on; words beyond it are read now. */
void pp_walk_other_from(const pp_registers *registers, const pp_stack_image *image,
                        pp_other_space *space, pp_walk *walk);

#endif
