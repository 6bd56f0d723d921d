/* SPDX-License-Identifier: MIT
 *
 * stack_memory.h: reading words of a stack without ever faulting.
 *
 * A walk reads through a window of addresses that are known to be mapped. While the stack pointer
 * is within the thread's own stack, whose ends are known from the thread's start, the window is the
 * whole used part of it and a read costs one comparison. On any other stack (sigaltstack,
 * coroutines, threads that were not started through the hook) pages are asked for one by one as the
 * walk reaches them, and the answer is forgotten after the walk: such a stack may be unmapped at
 * any time.
 *
 *   own stack   limit ........ sp - red zone [########## window ##########) top
 *   other                      [page][page][page] .. grows with the walk
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: 16 bytes of initial-exec TLS a thread.
 */
#ifndef PP_UNWIND_STACK_MEMORY_H
#define PP_UNWIND_STACK_MEMORY_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* Below the CFA of a one-word rule lie the return address and up to 32 words that it can name. */
#define PP_STACK_WORDS_BELOW_CFA ((uintptr_t)33)

typedef struct pp_stack_window {
    uintptr_t lo;
    uintptr_t span;  /* words at lo .. lo + span - 1 can be read whole; 0 = nothing known yet */
    uintptr_t floor; /* the lowest address of the own stack that this walk may read */
    /* All words below a CFA in (cfa_lo, cfa_hi] can be read. (UINTPTR_MAX, 0) if there is none. */
    uintptr_t cfa_lo, cfa_hi;
} pp_stack_window;

/*
 * Declares [limit, top) to be the calling thread's own stack. `top` must be mapped down to wherever
 * the thread's SP is, `limit` must not be below the stack's mapping: a higher value is safe and
 * only slower.
 */
void pp_stack_declare(uintptr_t limit, uintptr_t top);

void pp_stack_window_open(pp_stack_window *window, uintptr_t sp);

/* Makes `address` readable through the window if it can be. */
bool pp_stack_window_reach(pp_stack_window *window, uintptr_t address);

PP_RAW_MEMORY static inline bool pp_stack_read(pp_stack_window *window, uintptr_t address,
                                               uintptr_t *word)
{
    if (pp_unlikely(address - window->lo >= window->span)) {
        if (!pp_stack_window_reach(window, address)) {
            return false;
        }
    }
    *word = *(const volatile uintptr_t *)address;
    return true;
}

#endif
