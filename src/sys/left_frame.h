/* SPDX-License-Identifier: MIT
 *
 * left_frame.h: detects that a jump left a function of the calling thread before it returned.
 *
 * A function cannot undo at its end what it began, if a signal handler jumps (siglongjmp) to a
 * frame further up. A handler that only interrupted the function must not undo it either.
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
 * `then` is the stack pointer that the function had, `now` that of the caller. On the alternate
 * stack, where handlers run, all frames of the normal stack still exist; on the normal stack, all
 * frames of the alternate stack are gone.
 */
static inline bool pp_frame_was_left(uintptr_t then, uintptr_t now)
{
    stack_t alternate = {.ss_flags = SS_DISABLE};
    pp_system_call(SYS_sigaltstack, NULL, &alternate);
    bool was_on_it = pp_is_on_stack(&alternate, then);
    return was_on_it == pp_is_on_stack(&alternate, now) ? then <= now : was_on_it;
}

#endif
