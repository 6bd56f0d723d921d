/* SPDX-License-Identifier: MIT
 *
 * judge.h: the walk at one instruction, compared with the machine.
 *
 * Zone: tests.
 * Owns: the true stack, and the walks whose truth is not known yet.
 */
#ifndef PP_COMPARE_JUDGE_H
#define PP_COMPARE_JUDGE_H

#include "places.h"
#include "protocol.h"
#include "shadow.h"

typedef struct judge_memory {
    compare_shared *shared; /* with the agent */
    shadow truth;
    unsigned first_visits;   /* of an instruction, that are all compared */
    unsigned long long news; /* counts them */
} judge_memory;

extern judge_memory judge_state;

/* Bounds of the stack that `sp` is on, for shadow_memory. */
bool judge_stack_bounds(uint64_t sp, uint64_t *lo, uint64_t *hi);

/* Walks at the instruction that the program has stopped at, and compares. False if the agent does
 * not answer. */
bool judge_here(place_record *record);

/* The flight is over: what was in flight is judged by where it landed. */
void judge_postponed(void);

/* Another program: what was postponed is void. */
void judge_forget(void);

#endif
