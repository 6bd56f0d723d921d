/* SPDX-License-Identifier: MIT
 *
 * own_stack.h: the stack of the thread that asks for a profile, from where the program called us.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_THREADS_OWN_STACK_H
#define PP_KINDS_THREADS_OWN_STACK_H

#include <stddef.h>
#include <stdint.h>

/* Stores the return addresses, leaf-most first; the first is in the function that called one of
 * <pprof.h>. If none did (the process ends), ours are left out as far as they
 * can be told (modules/own_code.h). Returns how many. */
uint32_t pp_own_stack(uintptr_t *pcs, size_t capacity);

/* In a signal handler: likewise, of what the signal interrupted. `context` is the handler's
 * ucontext_t. */
uint32_t pp_own_stack_at(const void *context, uintptr_t *pcs, size_t capacity);

#endif
