/* SPDX-License-Identifier: MIT
 *
 * frame_pointer.h: finds a frame pointer that nobody has told.
 *
 * Of a thread that waits in the kernel, stack pointer and PC are known, rbp is not. Most frames do
 * not need it. One whose CFA stands on rbp (-O0, alloca, realigned stacks) does, unless a callee
 * has saved it. It can be seen on the stack: where the function's caller is, a return address lies
 * behind a call of this very function.
 *
 *   sp                                     rbp
 *    |  locals, arguments, old calls ...    | saved rbp | return address |  caller's frame
 *    +---- at least what the prologue took -+                 |
 *                                        the call in front of it leads to this function,
 *                                        or through a pointer to who knows where
 *
 * What was found for a PC is remembered: a thousand threads wait at the same place.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_FRAME_POINTER_H
#define PP_UNWIND_FRAME_POINTER_H

#include "unwind/frame.h"
#include "unwind/rule.h"

#include <stdbool.h>
#include <stdint.h>

enum { PP_FP_PLACES = 64 };

/* A PC at which the frame pointer had to be found. */
typedef struct pp_fp_place {
    uintptr_t pc; /* 0 = none */
    pp_rule rule;
    uintptr_t function;
    uintptr_t least;          /* of what lies between sp and rbp */
    uintptr_t distance;       /* what lay between them the last time, and */
    uintptr_t return_address; /* where it returned to; 0 = never found */
} pp_fp_place;

typedef struct pp_fp_search {
    pp_fp_place place[PP_FP_PLACES];
} pp_fp_search;

/*
 * If what `f` lacks is the frame pointer, finds it and sets f->fp. False if that is not what it
 * lacks, or there is none to be seen. `search` begins as zeros, and serves for as long as no module
 * goes.
 */
bool pp_frame_pointer_find(pp_frame *f, pp_fp_search *search);

#endif
