/* SPDX-License-Identifier: MIT
 *
 * crash_stacks.h: alternate stacks for threads that have none. A thread that has used up its own
 * stack can run no handler without one.
 *
 * The program does not see these stacks: sigaltstack() says SS_DISABLE (host/alternate_stack.c). A
 * thread that sets up a stack of its own gives ours up; it gets another when it disables its own.
 * Threads that were there before pp_crash_stacks_want(), except for its caller, and threads that
 * are created past the hooks, get none.
 *
 * Zone: HOOK.
 * Owns: the stacks.
 */
#ifndef PP_CRASH_CRASH_STACKS_H
#define PP_CRASH_CRASH_STACKS_H

#include <signal.h>
#include <stdbool.h>

/* From now on threads that begin get a stack, and so does the calling thread. */
void pp_crash_stacks_want(void);

/* No more stacks: the program is about to confine itself. The present ones stay for ever. */
void pp_crash_stacks_stop(void);

/* Gives the calling thread a stack, if stacks are wanted and it has no alternate stack. */
void pp_crash_stack_begin(void);

/* The calling thread ends: its stack, if it is ours, is released when the thread is gone. */
void pp_crash_stack_end(void);

/* Whether it is one of ours. */
bool pp_crash_stack_is(const stack_t *stack);

/* Releases a stack of ours that no thread has in force. */
void pp_crash_stack_release(const stack_t *stack);

#endif
