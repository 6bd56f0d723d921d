/* SPDX-License-Identifier: MIT
 *
 * walk_space.h: what a walk needs to work in, apart from a few words of stack.
 *
 * A signal handler may run on a stack of a few KiB. Registers, the state of a CFA program and the
 * bytes that were copied for it are kept in memory that the caller of the walk provides: the CPU
 * handler has it beside its scratch buffer, others on their stack. Needs no initialisation.
 *
 * Zone: SIGNAL (data only).
 */
#ifndef PP_UNWIND_WALK_SPACE_H
#define PP_UNWIND_WALK_SPACE_H

#include "arch/registers.h"
#include "sys/signal_mask.h"
#include "unwind/cfi.h"
#include "unwind/frame.h"
#include "unwind/stack_memo.h"
#include "unwind/stack_memory.h"

typedef struct pp_walk_space {
    pp_frame frame; /* where the walk is */
    pp_memo_use memo_use;
    pp_registers registers; /* of the frame that a signal interrupted */
    pp_rule rule;
    pp_stack_copy stack;
    pp_image image; /* the module of the rule that is being computed */
    pp_cfi_space cfi;
    pp_signal_mask mask; /* from before the first rule that had to be computed */
} pp_walk_space;

#endif
