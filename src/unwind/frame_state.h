/* SPDX-License-Identifier: MIT
 *
 * frame_state.h: a frame as a walk knows it. The memo compares frames, and frame.h steps from one
 * to the next.
 *
 * Zone: SIGNAL (data only).
 */
#ifndef PP_UNWIND_FRAME_STATE_H
#define PP_UNWIND_FRAME_STATE_H

#include "arch/registers.h"
#include "unwind/stack_memory.h"
#include "unwind/target.h"

#include <stdbool.h>
#include <stdint.h>

struct pp_walk_space;

typedef struct pp_frame {
    uintptr_t pc, sp;
    uintptr_t fp, bx;         /* 0 = not known: no CFA is computed from a register that is 0 */
    bool exact;               /* pc is the instruction itself, not a return address */
    bool guessed;             /* some frame so far was passed without CFI */
    bool computes;            /* the walk has computed a rule: see pp_frame_close() */
    const pp_registers *full; /* all registers of the last exact frame, NULL if there was none */
    struct pp_walk_space *space;
    const pp_walk_target *target; /* NULL = the frame is of this process */
    pp_stack_window window;
    uint64_t epoch; /* of the loader when the walk began */
    unsigned generation;
} pp_frame;

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
