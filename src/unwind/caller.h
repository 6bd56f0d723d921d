/* SPDX-License-Identifier: MIT
 *
 * caller.h: the frame of a program that has called a function of libpprof.
 *
 * Hooks and public functions record the stack of their caller. They pass the caller's registers to
 * the walk in this form (pp_walk_from_caller()), so that the walk begins above libpprof's frames.
 *
 * Zone: SIGNAL (data only).
 */
#ifndef PP_UNWIND_CALLER_H
#define PP_UNWIND_CALLER_H

#include "arch/registers.h"
#include "base/compiler.h"

#include <stdint.h>

typedef struct pp_caller {
    uintptr_t leaf; /* the hooked function, for its frame before the caller's; 0 = no such frame */
    uintptr_t return_address;
    uintptr_t sp, fp, bx; /* as the caller has them after the return */
} pp_caller;

/* The caller of a function on whose entry the registers are these. */
PP_RAW_MEMORY static inline pp_caller pp_caller_at_entry(uintptr_t sp, uintptr_t fp, uintptr_t bx)
{
    uintptr_t word = PP_RETURN_ON_STACK ? *(const uintptr_t *)sp : bx;
    return (pp_caller){.return_address = pp_return_address(word),
                       .sp = sp + (PP_RETURN_ON_STACK ? sizeof word : 0),
                       .fp = fp,
                       .bx = bx};
}

#endif
