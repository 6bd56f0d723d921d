/* SPDX-License-Identifier: MIT
 *
 * walk.h: walks the calling thread's stack, from registers.
 *
 * Zone: SIGNAL: takes no lock, allocates nothing, never faults; < 1 KiB of stack.
 */
#ifndef PP_UNWIND_WALK_H
#define PP_UNWIND_WALK_H

#include "unwind/caller.h"
#include "unwind/reason.h"
#include "unwind/walk_space.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_walk {
    uintptr_t *pcs;       /* in: for the stack, leaf-most first, return-like (profile/model.h) */
    pp_walk_space *space; /* in: the memory to work in */
    uint32_t capacity;    /* in */
    uint32_t skip;        /* in: leaf-most frames not to store; frames of libpprof do not count */
    bool without_memo;    /* in: find every frame by its rule */
    bool keeps_own;       /* in: leave frames of libpprof in (own_frames.h) */
    bool wants_hash;      /* in: set `hash` */
    bool guessed;         /* out: a frame was left without CFI, by its frame pointer or by SP */
    bool computed; /* out: a rule was computed, which takes a hundred times as long as to find it */
    pp_stop stop;  /* out: pp_stop_of(why) */
    pp_reason why; /* out: why there is no caller of the last frame */
    uint32_t depth; /* out */
    uint64_t hash;  /* out, if wanted: pp_stack_hash() of the stored frames */
} pp_walk;

/* Walks from the instruction at which a signal interrupted the calling thread. `context` is the
 * handler's ucontext_t. */
void pp_walk_from_context(const void *context, pp_walk *walk);

/* Walks from the frame of a caller. The first frame of the walk is caller->return_address, not
 * caller->leaf. */
void pp_walk_from_caller(const pp_caller *caller, pp_walk *walk);

#endif
