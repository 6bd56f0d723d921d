/* SPDX-License-Identifier: MIT
 *
 * call_on_stack.h: calls a function on another stack.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_CALL_ON_STACK_H
#define PP_ARCH_CALL_ON_STACK_H

/* Calls function(argument) with the stack pointer at `top`, a multiple of 16, and returns to the
 * present stack. A walk of the function's stack goes on to the caller's frames. */
void pp_call_on_stack(void *top, void (*function)(void *argument), void *argument);

#endif
