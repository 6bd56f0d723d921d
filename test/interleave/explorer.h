/* SPDX-License-Identifier: MIT
 *
 * explorer.h: what the model's memory asks of its explorer.
 */
#ifndef PP_TEST_INTERLEAVE_EXPLORER_H
#define PP_TEST_INTERLEAVE_EXPLORER_H

#include "interleave/model.h"

typedef enum model_phase {
    MODEL_OFF,   /* outside of executions: nothing is modelled */
    MODEL_ALONE, /* setup and check: what is written is undone, no more */
    MODEL_RUNS
} model_phase;

model_phase explorer_phase(void);

/* Another thread may go on here. */
void explorer_preempt(void);

/* One of `count` possibilities, each in its turn: 0, 1, ... Nothing but 0 if it would be one stale
 * read too many. */
unsigned explorer_choose_stale(unsigned count);

/* Ends the execution. Does not return. */
void explorer_fault(const char *text);

/* Whether it is the running thread's own: on its stack, or one of its variables. */
bool explorer_is_private(uintptr_t address);

/* The order that an operation of that kind has: a mutant may have changed it. */
int explorer_order(unsigned kind, int order);

/* For model_print_last(). */
void explorer_note(const char *what, uintptr_t address, uint64_t value);

#endif
