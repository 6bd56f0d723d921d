/* SPDX-License-Identifier: MIT
 *
 * walk_space.h: the memory that a walk works in, apart from a few words of stack.
 *
 * A signal handler may run on a stack of a few KiB. So the caller of a walk provides the memory for
 * registers, for the state of a CFA program, and for bytes that are copied for it: the CPU handler
 * has it in its scratch buffer, other callers have it on their stack. It needs no initialisation.
 *
 * Zone: SIGNAL (data only).
 */
#ifndef PP_UNWIND_WALK_SPACE_H
#define PP_UNWIND_WALK_SPACE_H

#include "arch/registers.h"
#include "sys/signal_mask.h"
#include "unwind/cfi.h"
#include "unwind/frame_state.h"
#include "unwind/stack_memo.h"
#include "unwind/stack_memory.h"

typedef struct pp_walk_space {
    pp_frame frame; /* the current one */
    pp_memo_use memo_use;
    pp_registers registers; /* of the frame that a signal interrupted */
    pp_rule rule;
    pp_stack_copy stack;
    pp_image image; /* the module of the rule that is being computed */
    pp_cfi_space cfi;
    pp_signal_mask mask; /* before the walk computed its first rule (frame.h) */
} pp_walk_space;

#endif
