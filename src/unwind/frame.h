/* SPDX-License-Identifier: MIT
 *
 * frame.h: one frame of a walk that is going on, and the step to its caller.
 *
 * The walk's loop (walk.c) takes the frames with one-word rules by itself; everything else is done
 * here, one frame at a time:
 *
 *   one-word rule on rbx, or at a leaf   -> 1 to 3 loads
 *   big rule                             -> reads, register moves
 *   miss                                 -> module, CFI program, publish, then as above
 *   no CFI                               -> frame pointer, marked as a guess
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_FRAME_H
#define PP_UNWIND_FRAME_H

#include "arch/registers.h"
#include "base/compiler.h"
#include "unwind/stack_memory.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum pp_verdict {
    PP_GO_ON,
    PP_ENDS,          /* the outermost frame */
    PP_HAS_NO_RULE,   /* nobody knows the caller */
    PP_CANNOT_BE_READ /* the stack is not what the rule says it is */
} pp_verdict;

struct pp_walk_space;

typedef struct pp_frame {
    uintptr_t pc, sp;
    uintptr_t fp, bx;         /* 0 = not known: no frame hangs on a register that is 0 */
    bool exact;               /* pc is the instruction itself, not a return address */
    bool guessed;             /* some frame so far was passed without CFI */
    bool computes;            /* some rule so far was computed: see pp_frame_close() */
    const pp_registers *full; /* all registers of the last exact frame, NULL if there was none */
    struct pp_walk_space *space;
    pp_stack_window window;
    uint64_t epoch; /* of the loader when the walk began */
    unsigned generation;
} pp_frame;

/* Only for pp_frame_close(). */
void pp_frame_end_computing(pp_frame *f);

/* Ends a walk: signals, which are blocked from the first rule on that a walk computes, are as they
 * were before. */
static inline void pp_frame_close(pp_frame *f)
{
    if (pp_unlikely(f->computes)) {
        pp_frame_end_computing(f);
    }
}

/* Moves `f` to its caller. */
pp_verdict pp_frame_leave(pp_frame *f);

/*
 * Finds the frame's rule and the first instruction of its function anew, without the cache; the
 * rule is left in the frame's space. False if there is none, or it is no PP_RULE_FRAME.
 */
bool pp_frame_explain(pp_frame *f, uintptr_t *function);

/*
 * Whether the frame, a caller's, is one whose address no call has left on the stack: who makes a
 * stack puts the address of a function at its beginning (__start_context of makecontext, `finish`
 * of Boost.Context). There is nothing below.
 */
bool pp_frame_was_put_there(pp_frame *f);

/* The address of the instruction that the frame is in. */
static inline uintptr_t pp_frame_instruction(const pp_frame *f)
{
    return f->exact ? f->pc : f->pc - 1;
}

/* The frame's PC as a stack keeps it: return-like, so that readers subtract 1 from all alike. */
static inline uintptr_t pp_frame_stored_pc(const pp_frame *f)
{
    return f->exact ? f->pc + (f->pc != UINTPTR_MAX) : f->pc;
}

#endif
