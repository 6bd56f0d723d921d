/* SPDX-License-Identifier: MIT
 *
 * frame_pointer.h: finds, on the stack, a frame pointer that is not known.
 *
 * The kernel shows the stack pointer and the PC of a thread that waits in it, but not rbp. Most
 * frames do not need rbp. A frame whose CFA is computed from rbp (-O0, alloca, realigned stacks)
 * does, unless a callee has saved it. The stack shows where rbp points: the return address above it
 * follows a call of this very function.
 *
 *   sp                                     rbp
 *    |  locals, arguments, old calls ...    | saved rbp | return address |  caller's frame
 *    +- at least what the prologue allots --+                 |
 *                                        the call before it leads to this function,
 *                                        or through a pointer, to an unknown function
 *
 * The result for a PC is remembered, since a thousand threads may wait at the same place.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_FRAME_POINTER_H
#define PP_UNWIND_FRAME_POINTER_H

#include "unwind/frame.h"
#include "arch/rule.h"

#include <stdbool.h>
#include <stdint.h>

enum { PP_FP_PLACES = 64 };

/* A PC at which the frame pointer had to be found. */
typedef struct pp_fp_place {
    uintptr_t pc; /* 0 = none */
    pp_rule rule;
    uintptr_t function;
    uintptr_t least;    /* bytes between sp and rbp, as the prologue allots them; 0 = unknown */
    uintptr_t distance; /* bytes between them the last time */
    uintptr_t return_address; /* of the frame, the last time; 0 = never found */
} pp_fp_place;

typedef struct pp_fp_search {
    pp_fp_place place[PP_FP_PLACES];
} pp_fp_search;

/*
 * If `f` cannot be left because its frame pointer is not known, finds the frame pointer and sets
 * f->fp. Returns false if `f` lacks something else, or if no frame pointer is found. `search`
 * begins as zeros, and serves until a module is unloaded.
 */
bool pp_frame_pointer_find(pp_frame *f, pp_fp_search *search);

#endif
