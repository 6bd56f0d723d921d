/* SPDX-License-Identifier: MIT
 *
 * stack_memo.h: the frames that a thread's last walk found, for the next walk to check and reuse.
 *
 * A walk is a chain: it must load each frame's return address before it can look up the next rule.
 * But most of a thread's stack is the same as a moment before. The memo keeps each frame of the
 * last walk: its state on arrival, and the places of the words that its rule made the walk read.
 *
 *    state = (pc, sp, fp, bx) of a caller      step = its rule's places of fp and bx
 *
 *    next state = function of (state, rules, the return address, the words at the places)
 *
 * When a walk arrives at a remembered state, it compares the words that lead from there to the next
 * remembered state with their remembered values: loads that do not wait for each other. As long as
 * the words agree, the walk follows the memo to where the rules would have led it. This is exact,
 * since
 *   - the rules are the same: a memo of another loader epoch is forgotten;
 *   - every word read is compared: frames that used anything else (signal frames, big rules,
 *     guesses without CFI) are `open`, and each walk steps over them by itself;
 *   - an fp or bx of 0 means "not known" everywhere.
 * So a memo need not be true; it only has to agree with the stack at the time of the walk.
 *
 * The frames are in a ring. A walk writes new frames after the old ones, over the leaf-most of
 * these, which it has passed by then:
 *
 *        new_lo     new_hi                       joined          old_hi
 *    ....[new frames)......[ old, passed ........[ old, agreeing )....      (112 in the ring)
 *
 * When the walk ends, the new frames and those that agreed are moved together. The hash of a stack
 * is built from its root up (base/stack_hash.h), so that the memo keeps the hashes of the frames
 * that agreed.
 *
 * A memo belongs to a thread, and to one of its walks at a time: a walk in a handler that
 * interrupts this one goes without a memo. A walk that was left by longjmp never gives the memo
 * back. Other walks know that it is gone when its pp_memo_use has been overwritten, and not before:
 * nothing follows from SP, since an alternate stack may be anywhere. During a walk the memo is
 * empty, whatever happens to the walk.
 *
 * Zone: SIGNAL.
 * Owns: the memos of up to 256 threads (.bss, touched when used); 16 bytes of initial-exec TLS.
 */
#ifndef PP_UNWIND_STACK_MEMO_H
#define PP_UNWIND_STACK_MEMO_H

#include "base/compiler.h"
#include "arch/rule.h"
#include "unwind/frame_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_MEMO_FRAMES = 112, /* of a deeper stack, the leaf-most ones */
    PP_MEMO_SLOTS = 256,  /* of the index; a power of two */
    PP_MEMO_THREADS = 256
};

/* ---- private: the layout, and what the functions below need of it ---- */

typedef enum pp_memo_kind {
    PP_MEMO_STEP, /* left by a packed rule */
    PP_MEMO_OPEN, /* left in another way */
    PP_MEMO_EXACT /* left in another way by an interrupted frame: pc is the instruction + 1 */
} pp_memo_kind;

typedef struct pp_memo_frame {
    uintptr_t pc; /* 0: the end, after the outermost frame */
    uintptr_t sp, fp, bx;
    uintptr_t fp_word, bx_word; /* the words at fp_place and bx_place */
    uint64_t hash;              /* of the stack from the root to here, if among the `hashed` */
    pp_packed_place fp_place, bx_place; /* where the rule says fp and bx are saved (arch/rule.h) */
    uint8_t kind;
} pp_memo_frame;

typedef struct pp_memo {
    uint64_t epoch;
    uintptr_t busy;        /* the pp_memo_use of the walk that has the memo; 0 = none */
    uint32_t refused;      /* walks that did not get the memo, since the last that did */
    uint32_t first, count; /* the frames of the last walk, leaf-most first; none during one */
    uint32_t hashed;       /* how many frames, the root-most ones, have a hash */
    uint8_t where[PP_MEMO_SLOTS]; /* the index: sp -> place in the ring; may be wrong */
    pp_memo_frame frame[PP_MEMO_FRAMES] __attribute__((aligned(64)));
} pp_memo;

static inline pp_memo_frame *pp_memo_at(pp_memo *memo, uint32_t position)
{
    return &memo->frame[position % PP_MEMO_FRAMES];
}

/* CFAs are multiples of 16 (System V ABI, AAPCS64). */
static inline uint8_t *pp_memo_slot(pp_memo *memo, uintptr_t sp)
{
    return &memo->where[(sp / 16) % PP_MEMO_SLOTS];
}

static inline bool pp_memo_has(pp_memo *memo, uintptr_t pc, uintptr_t sp)
{
    const pp_memo_frame *m = &memo->frame[*pp_memo_slot(memo, sp)];
    return ((m->sp ^ sp) | (m->pc ^ pc)) == 0;
}

/* Fills in a frame, but not what it has if a step leaves it. */
static inline void pp_memo_put(pp_memo *memo, pp_memo_frame *m, uintptr_t pc, uintptr_t sp,
                               uintptr_t fp, uintptr_t bx, pp_memo_kind kind)
{
    m->pc = pc;
    m->sp = sp;
    m->fp = fp;
    m->bx = bx;
    m->kind = (uint8_t)kind;
    *pp_memo_slot(memo, sp) = (uint8_t)(m - memo->frame);
}

/* ---- one walk ---- */

/* One walk's use of a memo; all fields are private. Positions count on across the ring's end.
 * old_hi is the highest. */
typedef struct pp_memo_use {
    pp_memo *memo;  /* NULL: the walk goes without */
    uintptr_t mark; /* by this, other walks that find the use in memo->busy see that it goes on */
    uint32_t new_lo, new_hi;
    uint32_t old_lo, old_hi;
    uint32_t joined, at; /* if following: where that began, and where the walk is */
    bool following;      /* the walk is at the remembered frame `at` */
    bool cut;            /* the walk goes on, and no more of it is remembered */
} pp_memo_use;

/* Begins a walk at `epoch` with the calling thread's memo, or without if that is in use or there is
 * none. */
void pp_memo_open(pp_memo_use *use, uint64_t epoch);

/* Begins a walk without a memo. */
static inline void pp_memo_open_none(pp_memo_use *use)
{
    *use = (pp_memo_use){.memo = NULL};
}

/* Ends a walk that will not end by itself: its code was left by a jump, or its thread is gone. */
static inline void pp_memo_abandon(pp_memo_use *use)
{
    use->mark = 0;
}

/* Whether frames of the walk are still looked for in a memo, and remembered there. */
static inline bool pp_memo_is_on(const pp_memo_use *use)
{
    return use->memo != NULL && !use->cut;
}

/* Whether the walk is at a remembered frame: one that pp_memo_follow() has come to. */
static inline bool pp_memo_is_following(const pp_memo_use *use)
{
    return use->following;
}

/* How many more frames can be remembered. */
static inline uint32_t pp_memo_room(const pp_memo_use *use)
{
    return PP_MEMO_FRAMES - (use->new_hi - use->new_lo);
}

/* Whether pp_memo_follow() is worth a call for this frame, a caller's. The walk's memo is on. */
static inline bool pp_memo_may_know(const pp_memo_use *use, uintptr_t pc, uintptr_t sp)
{
    return pp_memo_has(use->memo, pc, sp);
}

/*
 * If `f`, a caller's frame, is remembered, takes every step that is remembered and still agrees.
 * Moves `f`, stores the frames that were left from `out` on, at most `room`, and returns how many.
 * f->pc is 0 if the end of the stack was reached. Afterwards pp_memo_is_following() is true if the
 * next step is an open one.
 */
size_t pp_memo_follow(pp_memo_use *use, pp_frame *f, uintptr_t *out, size_t room);

/* Remembers nothing more of the walk, which goes on. */
void pp_memo_cut(pp_memo_use *use);

/* ---- packed rules in a row ---- */

/* The place in the ring of a walk that takes steps by packed rules. */
typedef struct pp_memo_run {
    pp_memo *memo;
    pp_memo_frame *at;
} pp_memo_run;

/* Begins a run of at most pp_memo_room() steps. The walk is not following. */
static inline pp_memo_run pp_memo_run_begin(const pp_memo_use *use)
{
    return (pp_memo_run){use->memo, pp_memo_at(use->memo, use->new_hi)};
}

/* Remembers the frame that the next step leaves. */
static inline void pp_memo_run_frame(const pp_memo_run *run, uintptr_t pc, uintptr_t sp,
                                     uintptr_t fp, uintptr_t bx)
{
    pp_memo_put(run->memo, run->at, pc, sp, fp, bx, PP_MEMO_STEP);
}

/* Remembers the step: the rule's places, and the words there. */
static inline void pp_memo_run_step(pp_memo_run *run, unsigned fp_place, unsigned bx_place,
                                    uintptr_t fp_word, uintptr_t bx_word)
{
    pp_memo_frame *m = run->at;
    m->fp_place = (pp_packed_place)fp_place;
    m->bx_place = (pp_packed_place)bx_place;
    m->fp_word = fp_word;
    m->bx_word = bx_word;
    run->at = m != run->memo->frame + (PP_MEMO_FRAMES - 1) ? m + 1 : run->memo->frame;
}

/* pp_memo_may_know(), during a run. */
static inline bool pp_memo_run_may_know(const pp_memo_run *run, uintptr_t pc, uintptr_t sp)
{
    return pp_memo_has(run->memo, pc, sp);
}

/* Ends a run of `steps` steps. */
static inline void pp_memo_run_end(pp_memo_use *use, uint32_t steps)
{
    use->new_hi += steps;
}

/* ---- steps one by one ---- */

/* Remembers, before a step that is not part of a run, the frame `f` that will be left. */
void pp_memo_before_step(pp_memo_use *use, const pp_frame *f);
/* After that step: `f` is the frame that it led to; `ended` if there is none. */
void pp_memo_after_step(pp_memo_use *use, const pp_frame *f, bool ended);

/*
 * Ends a walk; `ended` if it has come to the stack's end. If `hash` is not NULL and the memo holds
 * the whole stack, stores in *hash the hash of the stack without its leaf-most `skip` frames.
 */
void pp_memo_close(pp_memo_use *use, bool ended, uint32_t skip, uint64_t *hash);

/* Gives the memo of the calling thread, which is about to end, to others. */
void pp_memo_thread_end(void);

/* Frees, in the child of fork, the memos of other threads. */
void pp_memo_after_fork_in_child(void);

#endif
