/* SPDX-License-Identifier: MIT
 *
 * apart_call.h: calls a function on a thread, or in a child process, that has the stack and the
 * thread-local storage of the caller.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_APART_CALL_H
#define PP_ARCH_APART_CALL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Creates a thread or a child by clone(2), which calls function(argument) and ends, and waits until it
 * has ended. The flags include CLONE_VM and CLONE_PARENT_SETTID: the kernel stores the new id in *tid
 * before the function runs. They include CLONE_CHILD_CLEARTID, by which the kernel stores 0 in *lives,
 * which is not 0 before, at the end; or CLONE_VFORK, and *lives is 0. The caller has blocked all
 * signals, number 33 as well: a handler would write to the stack that both use. 0 or -errno of clone.
 */
long pp_apart_call(unsigned long flags, int *tid, int *lives, void (*function)(void *argument),
                   void *argument) __attribute__((visibility("hidden")));
extern const char pp_apart_call_end[] __attribute__((visibility("hidden")));

/* Whether a thread that waits at this PC waits for that end. */
static inline bool pp_apart_call_waits(uintptr_t pc)
{
    return pc > (uintptr_t)pp_apart_call && pc < (uintptr_t)pp_apart_call_end;
}

#endif
