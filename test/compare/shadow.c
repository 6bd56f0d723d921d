/* SPDX-License-Identifier: MIT
 *
 * shadow.c: entries pushed and popped.
 *
 * Zone: tests.
 * Owns: the entries.
 */
#include "shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PUSHED = MACHINE_CALL_PUSHES,
    /* SP is not moved farther by one instruction without a look at where it is now. */
    NEAR = 2048,
    /* A signal frame: SP of the restorer lies one word above its lowest address, the ucontext_t is
     * far larger than this. */
    IN_SIGNAL_FRAME = 64,
    MAX_FLIGHT = 200
};

static shadow_stack *current_stack(shadow *s)
{
    return &s->stacks[s->current];
}

static void push(shadow_stack *stack, shadow_entry entry)
{
    if (stack->count == stack->room) {
        stack->room = stack->room * 2 + 64;
        stack->entries = realloc(stack->entries, stack->room * sizeof *stack->entries);
        if (stack->entries == NULL) {
            perror("shadow stack");
            exit(2);
        }
    }
    stack->entries[stack->count++] = entry;
}

static size_t add_stack(shadow *s, uint64_t lo, uint64_t hi, bool whole)
{
    if (s->count == SHADOW_STACKS) { /* the oldest but the first: most likely it is gone */
        free(s->stacks[1].entries);
        memmove(&s->stacks[1], &s->stacks[2], (SHADOW_STACKS - 2) * sizeof *s->stacks);
        s->count--;
    }
    s->stacks[s->count] = (shadow_stack){.lo = lo, .hi = hi, .whole = whole};
    return s->count++;
}

void shadow_begin(shadow *s, uint64_t sp, uint64_t lo, uint64_t hi)
{
    (void)sp;
    for (size_t i = 0; i < s->count; i++) {
        free(s->stacks[i].entries);
    }
    *s = (shadow){.odd_returns = s->odd_returns, .stack_switches = s->stack_switches};
    s->current = add_stack(s, lo, hi, true);
}

const shadow_entry *shadow_top(const shadow *s)
{
    const shadow_stack *stack = &s->stacks[s->current];
    return stack->count > 0 ? &stack->entries[stack->count - 1] : NULL;
}

void shadow_mark(shadow *s, uint64_t mark)
{
    shadow_stack *stack = current_stack(s);
    stack->entries[stack->count - 1].mark = mark;
}

/* ---- flights ---- */

static void begin_flight(shadow *s, bool one, const shadow_entry *popped)
{
    if (s->flight == SHADOW_IN_FLIGHT) {
        s->one_popped = false;
        return;
    }
    s->flight = SHADOW_IN_FLIGHT;
    s->flown = 0;
    s->one_popped = one;
    s->popped = *popped;
}

static void land(shadow *s, uint64_t pc)
{
    s->flight = SHADOW_LANDED;
    s->landing = pc;
}

/* ---- SP ---- */

static size_t stack_of(shadow *s, uint64_t sp, const shadow_memory *memory)
{
    uint64_t lo = 0;
    uint64_t hi = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (sp >= s->stacks[i].lo && sp < s->stacks[i].hi) {
            return i;
        }
    }
    if (!memory->stack_bounds(sp, &lo, &hi)) {
        return s->current; /* not mapped: the next push will say more */
    }
    return add_stack(s, lo, hi, false);
}

/* Ends the frames whose slots SP has passed. Returns how many; the outermost of them in *last. */
static size_t pop_passed(shadow_stack *stack, uint64_t sp, shadow_entry *last)
{
    size_t passed = 0;
    while (stack->count > 0 && stack->entries[stack->count - 1].slot < sp) {
        *last = stack->entries[--stack->count];
        passed++;
    }
    return passed;
}

/* Control is at the caller now. Where a call pushes nothing, SP is at the slots of the frames that are over. */
static void pop_returned(shadow_stack *stack, uint64_t sp)
{
    while (PUSHED == 0 && stack->count > 0 && stack->entries[stack->count - 1].slot == sp &&
           !stack->entries[stack->count - 1].interrupted) {
        stack->count--;
    }
}

static bool is_signal_stack_of(const shadow_stack *stack, size_t other)
{
    return stack->count > 0 && stack->entries[0].interrupted &&
           stack->entries[0].link == (int)other;
}

/* SP left the current stack. A signal stack that is left for what was interrupted is over. */
static void switch_stack(shadow *s, size_t to)
{
    if (is_signal_stack_of(current_stack(s), to)) {
        current_stack(s)->count = 0;
    }
    s->current = to;
}

/* Returns how many frames are over; -1 if SP is on another stack now. */
static int move_sp(shadow *s, uint64_t from, uint64_t to, shadow_entry *last,
                   const shadow_memory *memory)
{
    uint64_t distance = to > from ? to - from : from - to;
    if (distance > NEAR) {
        size_t stack = stack_of(s, to, memory);
        if (stack != s->current) {
            switch_stack(s, stack);
            s->stack_switches++;
            pop_passed(current_stack(s), to, last);
            return -1;
        }
    }
    return (int)pop_passed(current_stack(s), to, last);
}

/* ---- steps ---- */

static void step_return(shadow *s, shadow_point before, shadow_point after,
                        const shadow_memory *memory)
{
    shadow_entry last = {0};
    const shadow_entry *top = shadow_top(s);
    bool expected = top != NULL && top->slot == before.sp && top->pc == after.pc;
    move_sp(s, before.sp, after.sp, &last, memory);
    if (expected && PUSHED == 0) {
        current_stack(s)->count--;
    } else {
        pop_returned(current_stack(s), after.sp);
    }
    if (s->flight == SHADOW_IN_FLIGHT) {
        land(s, after.pc);
    } else if (!expected) {
        s->odd_returns++;
    }
}

static void step_other(shadow *s, machine_step executed, shadow_point before, shadow_point after,
                       const shadow_memory *memory)
{
    shadow_entry last = {0};
    uint64_t word = 0;
    if (after.sp != before.sp) {
        int passed = move_sp(s, before.sp, after.sp, &last, memory);
        if (passed != 0) {
            begin_flight(s, passed == 1, &last);
        } else if (s->flight == SHADOW_IN_FLIGHT && s->one_popped &&
                   after.sp == before.sp - PUSHED && memory->read_word(after.sp, &word) &&
                   word == s->popped.pc) {
            push(current_stack(s),
                 (shadow_entry){.slot = after.sp, .pc = word, .link = SHADOW_NO_LINK});
            s->flight = SHADOW_RESTORED;
            return;
        }
    }
    if (s->flight == SHADOW_IN_FLIGHT) {
        if (executed.kind == INSTRUCTION_JUMP) {
            pop_returned(current_stack(s), after.sp);
            land(s, after.pc);
        } else if (++s->flown > MAX_FLIGHT) {
            s->flight = SHADOW_ABANDONED;
        }
    }
}

void shadow_step(shadow *s, machine_step executed, shadow_point before, shadow_point after,
                 const shadow_memory *memory)
{
    switch (executed.kind) {
    case INSTRUCTION_CALL:
        if (after.sp == before.sp - PUSHED) {
            if (s->flight == SHADOW_IN_FLIGHT) {
                s->flight = SHADOW_ABANDONED;
            }
            push(current_stack(s), (shadow_entry){.slot = after.sp,
                                                  .pc = before.pc + executed.length,
                                                  .link = SHADOW_NO_LINK,
                                                  .callee = after.pc});
            return;
        }
        break; /* interrupted before it could push */
    case INSTRUCTION_RETURN:
        if (after.sp >= before.sp + PUSHED) {
            step_return(s, before, after, memory);
            return;
        }
        break;
    default:
        break;
    }
    step_other(s, executed, before, after, memory);
}

void shadow_signal_return(shadow *s, shadow_point after, const shadow_memory *memory)
{
    shadow_stack *stack = current_stack(s);
    shadow_entry last = {0};
    while (stack->count > 0) {
        shadow_entry entry = stack->entries[--stack->count];
        if (entry.interrupted) {
            if (entry.link != SHADOW_NO_LINK) {
                s->current = (size_t)entry.link;
            }
            break;
        }
    }
    s->current = stack_of(s, after.sp, memory);
    pop_passed(current_stack(s), after.sp, &last);
}

void shadow_signal(shadow *s, shadow_point interrupted, shadow_point handler, uint64_t restorer,
                   const shadow_memory *memory)
{
    size_t from = s->current;
    size_t to = stack_of(s, handler.sp, memory);
    if (s->flight == SHADOW_IN_FLIGHT) {
        s->flight = SHADOW_ABANDONED;
    }
    if (to != from) {
        s->stacks[to].count = 0; /* the kernel begins at the top of an alternate stack */
    }
    s->current = to;
    push(current_stack(s), (shadow_entry){.slot = handler.sp + PUSHED + IN_SIGNAL_FRAME,
                                          .pc = interrupted.pc,
                                          .interrupted = true,
                                          .link = to != from ? (int)from : SHADOW_NO_LINK});
    push(current_stack(s),
         (shadow_entry){.slot = handler.sp, .pc = restorer, .link = SHADOW_NO_LINK});
}

void shadow_resume_at(shadow *s, shadow_point at, const shadow_memory *memory)
{
    shadow_entry last = {0};
    size_t stack = stack_of(s, at.sp, memory);
    if (stack != s->current) {
        switch_stack(s, stack);
    }
    pop_passed(current_stack(s), at.sp, &last);
    if (shadow_top(s) != NULL && shadow_top(s)->pc == at.pc) {
        pop_returned(current_stack(s), at.sp);
    }
    s->flight = SHADOW_GROUNDED;
}

size_t shadow_callers(const shadow *s, uint64_t *pcs, size_t room, bool *whole)
{
    const shadow_stack *stack = &s->stacks[s->current];
    size_t depth = 0;
    for (size_t i = stack->count; i > 0 && depth < room; i--) {
        const shadow_entry *entry = &stack->entries[i - 1];
        pcs[depth++] = entry->pc + entry->interrupted;
        if (entry->interrupted && entry->link != SHADOW_NO_LINK) {
            stack = &s->stacks[entry->link];
            i = stack->count + 1;
        }
    }
    *whole = stack->whole;
    return depth;
}
