/* SPDX-License-Identifier: MIT
 *
 * frame.h: the current frame of a walk, and the step to its caller.
 *
 * The walk's loop (walk.c) steps over callers' frames with one-word rules on rsp or rbp. This file
 * takes all other steps, one frame at a time:
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
    PP_HAS_NO_RULE,   /* the caller cannot be found */
    PP_CANNOT_BE_READ /* the stack is not what the rule says it is */
} pp_verdict;

struct pp_walk_space;

typedef struct pp_frame {
    uintptr_t pc, sp;
    uintptr_t fp, bx;         /* 0 = not known: no CFA is computed from a register that is 0 */
    bool exact;               /* pc is the instruction itself, not a return address */
    bool guessed;             /* some frame so far was passed without CFI */
    bool computes;            /* the walk has computed a rule: see pp_frame_close() */
    const pp_registers *full; /* all registers of the last exact frame, NULL if there was none */
    struct pp_walk_space *space;
    pp_stack_window window;
    uint64_t epoch; /* of the loader when the walk began */
    unsigned generation;
} pp_frame;

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

/* Moves `f` to its caller. */
pp_verdict pp_frame_leave(pp_frame *f);

/*
 * Computes the frame's rule and the first instruction of its function, without the cache. Leaves
 * the rule in the frame's space. Returns false if there is no rule, or no PP_RULE_FRAME.
 */
bool pp_frame_explain(pp_frame *f, uintptr_t *function);

/*
 * Whether no call has left the address of the frame, a caller's, on the stack. Code that makes a
 * stack puts the address of a function at its beginning (__start_context of makecontext, `finish`
 * of Boost.Context). Such a frame is the outermost one.
 */
bool pp_frame_was_put_there(pp_frame *f);

/* The address of the instruction that the frame executes: for a caller, its call. */
static inline uintptr_t pp_frame_instruction(const pp_frame *f)
{
    return f->exact ? f->pc : f->pc - 1;
}

/* The frame's PC as stacks store it: return-like, so that readers subtract 1 from every address. */
static inline uintptr_t pp_frame_stored_pc(const pp_frame *f)
{
    return f->exact ? f->pc + (f->pc != UINTPTR_MAX) : f->pc;
}

#endif
