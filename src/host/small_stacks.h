/* SPDX-License-Identifier: MIT
 *
 * small_stacks.h: the threads on whose alternate stack the kernel cannot put a signal.
 *
 * Our handler runs on the thread's alternate stack, if there is one (SA_ONSTACK). The kernel's
 * frame has 3 KiB where there is AVX-512, and a program may set up less: MINSIGSTKSZ is 2048. The
 * kernel answers a signal that has no room there with SIGSEGV. So such a thread is told by its
 * sigaltstack() (host/alternate_stack.c), and no signal of ours is sent to it.
 *
 * A stack that was set up past libc is not known here. The handler looks for itself whether the
 * rest has room for a walk (cpu_signal.c); where not even the kernel's frame has, the program ends.
 *
 * Zone: SIGNAL.
 * Owns: the list; a word of TLS.
 */
#ifndef PP_HOST_SMALL_STACKS_H
#define PP_HOST_SMALL_STACKS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether a signal and our handler do not fit on it. A stack that is off is not small. */
bool pp_small_stacks_is(const stack_t *stack);

/* Whether the calling thread has a small one: now, or from now on, as `thread` (pthread_self(); 0:
 * none). */
bool pp_small_stacks_has_own(void);
void pp_small_stacks_set_own(uintptr_t thread);

/* Whether thread `tid` has one. True of all threads once there were too many to remember. */
bool pp_small_stacks_has(int tid);

/* The thread id of such a thread; 0: it is none, or one too many. */
int pp_small_stacks_find(uintptr_t thread);

/* In the child of fork, which has the stack of the thread that forked. */
void pp_small_stacks_after_fork_in_child(void);

#endif
