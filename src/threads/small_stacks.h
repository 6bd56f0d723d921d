/* SPDX-License-Identifier: MIT
 *
 * small_stacks.h: lists the threads whose alternate stack is too small for a signal of ours.
 *
 * Our handler runs on the thread's alternate stack, if it has one (SA_ONSTACK). The kernel's frame
 * takes 1 KiB, with AVX-512 3 KiB, and a program may set up less: MINSIGSTKSZ is 2048. Where a
 * signal has no room, the kernel sends SIGSEGV instead; where a sample has none, it would be lost.
 * The hook of sigaltstack() (host/alternate_stack.c) enters such a thread into this list, and nobody
 * sends it a signal of ours.
 *
 * A stack that was set up past libc is not listed. The handler itself checks whether the rest of
 * the stack has room for a walk (pp_sampling_has_room()); where not even the kernel's frame has
 * room, the program ends.
 *
 * Zone: SIGNAL.
 * Owns: the list; a word of TLS.
 */
#ifndef PP_THREADS_SMALL_STACKS_H
#define PP_THREADS_SMALL_STACKS_H

#include "arch/registers.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What a sample needs of a stack below the kernel's frame, and a margin. */
enum { PP_SAMPLE_ROOM = PP_HANDLER_STACK_BYTES + 256 };

/* Whether a signal and our handler do not fit on the stack. A disabled stack is not small. */
bool pp_small_stacks_is(const stack_t *stack);

/* Whether the calling thread has a small stack; says whether it has one from now on. `thread` is
 * pthread_self() if it has, else 0. */
bool pp_small_stacks_has_own(void);
void pp_small_stacks_set_own(uintptr_t thread);

/* Whether thread `tid` has a small stack. True for all threads once the list has overflowed. */
bool pp_small_stacks_has(int tid);

/* The thread id of a listed thread (`thread` is its pthread_self()); 0: it is not in the list. */
int pp_small_stacks_find(uintptr_t thread);

/* In the child of fork: the list has only the thread that forked. */
void pp_small_stacks_after_fork_in_child(void);

#endif
