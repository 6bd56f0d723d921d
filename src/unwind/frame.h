/* SPDX-License-Identifier: MIT
 *
 * frame.h: the current frame of a walk, and the step to its caller.
 *
 * The walk's loop (walk.c) steps over callers' frames with packed rules on rsp or rbp. This file
 * takes all other steps, one frame at a time:
 *
 *   packed rule on rbx, or at a leaf   -> 1 to 3 loads
 *   big rule                             -> reads, register moves
 *   miss                                 -> module, CFI program, publish, then as above
 *   no CFI                               -> frame pointer, marked as a guess
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_FRAME_H
#define PP_UNWIND_FRAME_H

#include "base/compiler.h"
#include "unwind/cfi.h"
#include "unwind/frame_state.h"
#include "unwind/reason.h"

#include <stdbool.h>
#include <stdint.h>

/* A part of pp_frame_close(). */
void pp_frame_end_computing(pp_frame *f);

/* Ends a walk. Signals are blocked from the first rule on that a walk computes; this restores the
 * mask from before. */
static inline void pp_frame_close(pp_frame *f)
{
    if (pp_unlikely(f->computes)) {
        pp_frame_end_computing(f);
    }
}

/* Moves `f` to its caller. If that cannot be found, `f` is of no more use. */
pp_reason pp_frame_leave(pp_frame *f);

/* Computes the frame's rule without the cache, and leaves it in the frame's space. Returns the code
 * that the rule's FDE covers; {0, 0} if there is no FDE. */
pp_function_range pp_frame_rule(pp_frame *f);

/*
 * Whether no call has left the address of the frame, a caller's, on the stack. Code that makes a
 * stack puts the address of a function at its beginning (__start_context of makecontext, `finish`
 * of Boost.Context). Such a frame is the outermost one.
 */
bool pp_frame_begins_stack(pp_frame *f);

#endif
