/* SPDX-License-Identifier: MIT
 *
 * shadow.h: the true stack of a program, kept from what the machine does.
 *
 * No call-frame information is read. A call pushes its return address together with the place
 * ("slot") that it was pushed to; whatever raises SP above a slot ends that frame: a return, but
 * also longjmp and the landing of an exception. Where a call pushes nothing (machine_aarch64.h), the slot
 * is SP at the call, and a return or a landing ends the frames with SP at their slots. A signal pushes what it interrupted. Every stack
 * that SP is ever seen on (alternate signal stacks, coroutines) has entries of its own.
 *
 *   leaf PC   <- now
 *   entry     <- pushed last          slot  ^ addresses grow
 *   ...                                     |
 *   entry     <- the first call after the process's first instruction
 *
 * What is true at an instruction:
 *
 * - The chain is the leaf's PC plus 1, then the pushed return addresses, leaf-most first; an
 *   interrupted instruction counts as its PC plus 1. It must be what pp_walk_from_context returns,
 *   to the end, and the walk must say PP_STOP_END. The chain ends in the frame that the process
 *   entered without a call: _start of the loader, then _start of the program.
 * - On a stack that the program switched to by itself the entries below the switch are not known.
 *   There the chain must be the beginning of the walk, which may have a few frames more.
 * - At a return instruction the caller is where the machine goes next (on x86-64, the word at SP). If no
 *   call has pushed it, it is the PC of an instruction, and counts as itself or as its PC plus 1.
 * - In flight: an instruction that is no return raised SP above a slot. Where control belongs is
 *   then known from where it lands: at the target of the next return or indirect jump, which is the
 *   caller's PC all the way (longjmp, the end of _Unwind_RaiseException, swapcontext), again as
 *   itself or plus 1; or, if a single return address was popped and is pushed again, at that one
 *   (vfork).
 *
 * Zone: tests.
 * Owns: the entries.
 */
#ifndef PP_COMPARE_SHADOW_H
#define PP_COMPARE_SHADOW_H

#include "machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHADOW_STACKS = 256, SHADOW_NO_LINK = -1 };

typedef struct shadow_entry {
    uint64_t slot; /* the frame is over once SP is above it */
    uint64_t pc;
    bool interrupted;      /* by a signal: pc is an instruction, not a return address */
    int link;              /* interrupted on another stack: its index */
    uint64_t callee, mark; /* the stepper's: what was called, and when */
} shadow_entry;

typedef struct shadow_stack {
    uint64_t lo, hi;
    shadow_entry *entries;
    size_t count, room;
    bool whole; /* nothing lies above the first entry */
} shadow_stack;

typedef enum shadow_flight {
    SHADOW_GROUNDED,
    SHADOW_IN_FLIGHT,
    SHADOW_LANDED,   /* by the last step: `landing` is the caller of all that was in flight */
    SHADOW_RESTORED, /* by the last step: the popped return address was pushed again */
    SHADOW_ABANDONED /* by the last step: what was popped is over, nothing took its place */
} shadow_flight;

typedef struct shadow {
    shadow_stack stacks[SHADOW_STACKS];
    size_t count, current;
    shadow_flight flight;
    bool one_popped; /* the flight began with exactly one entry: */
    shadow_entry popped;
    uint64_t landing;
    unsigned flown;               /* steps since the flight began */
    unsigned long odd_returns;    /* to somewhere else than the entry of their slot says */
    unsigned long stack_switches; /* to other stacks, not by signals */
} shadow;

typedef struct shadow_point {
    uint64_t pc, sp;
} shadow_point;

/* What a step needs to know of the program beyond its registers. */
typedef struct shadow_memory {
    bool (*read_word)(uint64_t address, uint64_t *word);
    bool (*stack_bounds)(uint64_t sp, uint64_t *lo, uint64_t *hi);
} shadow_memory;

/* A process that is about to execute its first instruction. */
void shadow_begin(shadow *s, uint64_t sp, uint64_t lo, uint64_t hi);

/* One instruction was executed. */
void shadow_step(shadow *s, machine_step executed, shadow_point before, shadow_point after,
                 const shadow_memory *memory);

/* rt_sigreturn was executed. */
void shadow_signal_return(shadow *s, shadow_point after, const shadow_memory *memory);

/* A handler is about to execute its first instruction; `interrupted` is what it will return to. */
void shadow_signal(shadow *s, shadow_point interrupted, shadow_point handler, uint64_t restorer,
                   const shadow_memory *memory);

/* SP has moved unobserved: everything below is over. */
void shadow_resume_at(shadow *s, shadow_point at, const shadow_memory *memory);

/* The innermost entry, NULL if there is none. */
const shadow_entry *shadow_top(const shadow *s);

/* Sets the mark of the innermost entry. */
void shadow_mark(shadow *s, uint64_t mark);

/* The chain of callers without the leaf; returns its length. `whole`: nothing lies beyond. */
size_t shadow_callers(const shadow *s, uint64_t *pcs, size_t room, bool *whole);

#endif
