/* SPDX-License-Identifier: MIT
 *
 * apart_call.h: calls a function on a thread that has the stack and the thread-local storage of the
 * caller.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_APART_CALL_H
#define PP_ARCH_APART_CALL_H

/*
 * Creates a thread by clone(2), which calls function(argument) and ends, and waits until it has
 * ended. The flags include CLONE_VM, CLONE_PARENT_SETTID and CLONE_CHILD_CLEARTID: the kernel stores
 * the thread's id in *tid before the thread runs, and 0 in *lives, which is not 0 before, when it has
 * ended. The caller has blocked all signals, number 33 as well: a handler would write to the stack
 * that the thread uses. 0 or -errno of clone.
 */
long pp_apart_call(unsigned long flags, int *tid, int *lives, void (*function)(void *argument),
                   void *argument);

#endif
