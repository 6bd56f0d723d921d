/* SPDX-License-Identifier: MIT
 *
 * own_stack.h: the stack of the thread that writes a profile, without libpprof's frames.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_THREADS_OWN_STACK_H
#define PP_KINDS_THREADS_OWN_STACK_H

#include <stddef.h>
#include <stdint.h>

/* Stores the return addresses of the calling thread, leaf-most first, and returns their number. The
 * first is in the function that called one of <pprof.h>. If there is no such call (the process
 * ends), libpprof's frames are left out as far as they can be recognized (modules/own_code.h). */
uint32_t pp_own_stack(uintptr_t *pcs, size_t capacity);

/* Does the same in a signal handler, for the code that the signal interrupted. `context` is the
 * handler's ucontext_t. */
uint32_t pp_own_stack_at(const void *context, uintptr_t *pcs, size_t capacity);

#endif
