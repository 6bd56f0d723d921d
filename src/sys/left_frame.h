/* SPDX-License-Identifier: MIT
 *
 * left_frame.h: whether a function of the calling thread that never returned was jumped out of.
 *
 * Something that is to be undone at the end of a function is not, if a signal handler jumps
 * (siglongjmp) to a frame further up. A handler that merely interrupted it must not undo it either.
 *
 * Zone: SIGNAL (one system call).
 */
#ifndef PP_SYS_LEFT_FRAME_H
#define PP_SYS_LEFT_FRAME_H

#include "arch/system_call.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool pp_is_on_stack(const stack_t *stack, uintptr_t sp)
{
    return (stack->ss_flags & SS_DISABLE) == 0 && sp - (uintptr_t)stack->ss_sp < stack->ss_size;
}

/*
 * `then` was the stack pointer in that function, `now` is the one of the function that asks. On the
 * alternate stack, where handlers run, the frames of the other one are all still there; from
 * the other one, those on the alternate stack are all gone.
 */
static inline bool pp_frame_was_left(uintptr_t then, uintptr_t now)
{
    stack_t alternate = {.ss_flags = SS_DISABLE};
    pp_system_call(SYS_sigaltstack, NULL, &alternate);
    bool was_on_it = pp_is_on_stack(&alternate, then);
    return was_on_it == pp_is_on_stack(&alternate, now) ? then <= now : was_on_it;
}

#endif
