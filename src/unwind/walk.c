/* SPDX-License-Identifier: MIT
 *
 * walk.c: the loop of a walk: steps by cached rules, or along the thread's memo.
 *
 *   frame remembered?  -> pp_memo_follow()    as far as the words on the stack agree
 *   packed rules     -> run()               as many as come in a row
 *   anything else      -> pp_frame_leave()    one frame
 *
 * Zone: SIGNAL.
 */
#include "unwind/walk.h"

#include "base/compiler.h"
#include "base/stack_hash.h"
#include "modules/loader.h"
#include "modules/own_code.h"
#include "unwind/frame.h"
#include "unwind/own_frames.h"
#include "unwind/rule_cache.h"
#include "unwind/stack_memo.h"

/* The frames that a walk stores. */
typedef struct sink {
    uintptr_t *at, *end;
    uint32_t skip;
    bool keeps_own, has_own; /* frames of libpprof's code (own_frames.h) */
} sink;

/* Stores a frame that takes a single step, as all frames of libpprof's code do. */
static void store(sink *out, uintptr_t pc, pp_memo_use *use)
{
    bool own = pp_own_code_has(pc - 1);
    if (pp_unlikely(own)) {
        out->has_own = true;
        pp_memo_cut(use); /* a walk that follows the memo does not check whose frames they are */
    }
    if (out->skip > 0) {
        out->skip -= !own || out->keeps_own;
    } else {
        *out->at++ = pc;
    }
}

/*
 * Steps over callers' frames with packed rules on sp or fp, as many as come in a row. Nearly
 * all frames are such. The time is that of the chain pc -> entry -> cfa -> next pc; everything else
 * runs beside it, and only the end of the run is a branch. The words of both registers are read
 * whether the function has saved them or not: for every CFA that passes the checks, the words below
 * the return address are in the window.
 *
 * Stops at the first frame that needs another step, or that the memo may know. This frame is not
 * stored yet. The first frame is not looked up in the memo, so that there is progress.
 */
PP_RAW_MEMORY static inline __attribute__((always_inline)) pp_reason
run_frames(pp_frame *f, sink *out, bool remember, pp_memo_use *use, size_t limit)
{
    uintptr_t pc = f->pc;
    uintptr_t sp = f->sp;
    uintptr_t fp = f->fp;
    uintptr_t bx = f->bx;
    uintptr_t *at = out->at;
    uintptr_t *const end = (size_t)(out->end - at) > limit ? at + limit : out->end;
    pp_memo_run run = remember ? pp_memo_run_begin(use) : (pp_memo_run){NULL, NULL};
    const uintptr_t hi = f->window.cfa_hi;
    const uint64_t good_generations =
        1 | (f->generation < PP_GENERATION_UNKNOWN ? UINT64_C(1) << f->generation : 0);
    pp_reason v = PP_GO_ON;
    while (at < end) {
        uintptr_t key = pp_cache_key_of_caller(pc);
        uint64_t entry =
            __atomic_load_n(&pp_rule_cache.entries[pp_cache_index(key)], __ATOMIC_RELAXED);
        uintptr_t base = pp_packed_is_on_fp(entry) ? fp : sp;
        uintptr_t cfa = base + pp_packed_offset(entry);
        if (pp_unlikely(!pp_cache_is_usual(entry, key) ||
                        !(good_generations >> pp_cache_generation(entry) & 1) || cfa <= sp ||
                        cfa > hi || !pp_packed_base_is_above(base, sp))) {
            break;
        }
        if (remember) {
            pp_memo_run_frame(&run, pc, sp, fp, bx);
        }
        unsigned fp_place = pp_packed_fp(entry);
        unsigned bx_place = pp_packed_bx(entry);
        uintptr_t saved_fp = *(const volatile uintptr_t *)pp_packed_save_address(cfa, fp_place);
        uintptr_t saved_bx = *(const volatile uintptr_t *)pp_packed_save_address(cfa, bx_place);
        if (remember) {
            pp_memo_run_step(&run, fp_place, bx_place, saved_fp, saved_bx);
        }
        fp = fp_place != PP_PACKED_UNCHANGED ? saved_fp : fp;
        uintptr_t word = *(const volatile uintptr_t *)pp_packed_return_address(cfa, bx_place);
        bx = pp_bx_of_caller(bx_place != PP_PACKED_UNCHANGED ? saved_bx : bx, word);
        *at++ = pc;
        pc = pp_return_address(word);
        sp = cfa;
        if (pp_unlikely(pc == 0)) {
            v = PP_ENDS;
            break;
        }
        if (remember && pp_unlikely(pp_memo_run_may_know(&run, pc, sp))) {
            break;
        }
    }
    f->pc = pc;
    f->sp = sp;
    f->fp = fp;
    f->bx = bx;
    if (remember) {
        pp_memo_run_end(use, (uint32_t)(at - out->at));
    }
    out->at = at;
    return v;
}

PP_RAW_MEMORY static __attribute__((noinline)) pp_reason run_plain(pp_frame *f, sink *out)
{
    return run_frames(f, out, false, NULL, SIZE_MAX);
}

PP_RAW_MEMORY static __attribute__((noinline)) pp_reason run_recording(pp_frame *f, sink *out,
                                                                       pp_memo_use *use)
{
    return run_frames(f, out, true, use, pp_memo_room(use));
}

static pp_reason run(pp_frame *f, sink *out, pp_memo_use *use)
{
    if (pp_memo_is_on(use) && pp_memo_room(use) == 0) {
        pp_memo_cut(use);
    }
    if (!pp_memo_is_on(use)) {
        return run_plain(f, out);
    }
    pp_reason v = run_recording(f, out, use);
    if (v == PP_ENDS) {
        pp_memo_before_step(use, f); /* the end, as a frame with a pc of 0 */
    }
    return v;
}

/* Takes all steps over callers' frames that can be taken in a row. Stops at a frame that needs a
 * single step. */
static pp_reason walk_callers(pp_frame *f, sink *out, pp_memo_use *use)
{
    const uintptr_t *before;
    do {
        if (pp_memo_is_on(use)) {
            size_t left = pp_memo_follow(use, f, out->at, (size_t)(out->end - out->at));
            out->at += left;
            if (left != 0 && f->pc == 0) {
                return PP_ENDS;
            }
            if (pp_memo_is_following(use) || out->at == out->end) {
                return PP_GO_ON;
            }
        }
        before = out->at;
        pp_reason v = run(f, out, use);
        if (v != PP_GO_ON) {
            return v;
        }
    } while (out->at != before && out->at < out->end && pp_memo_is_on(use) &&
             pp_memo_may_know(use, f->pc, f->sp));
    return PP_GO_ON;
}

static void walk_frames(pp_frame *f, pp_walk *walk)
{
    pp_memo_use *use = &f->space->memo_use;
    pp_reason v = PP_GO_ON;
    sink out = {.at = walk->pcs,
                .end = walk->pcs + walk->capacity,
                .skip = walk->skip,
                .keeps_own = walk->keeps_own};
    const bool is_interrupted = f->full != NULL;
    f->epoch = pp_loader_epoch();
    f->generation = pp_rule_cache_generation(f->epoch);
    if (!walk->without_memo && f->generation != PP_GENERATION_UNKNOWN) {
        pp_memo_open(use, f->epoch);
    } else {
        pp_memo_open_none(use);
    }
    pp_stack_window_open(&f->window, f->sp, &f->space->stack);
    while (v == PP_GO_ON && out.at < out.end) {
        if (!f->exact && out.skip == 0 && f->sp >= f->window.cfa_lo) {
            v = walk_callers(f, &out, use);
            if (v != PP_GO_ON || out.at == out.end) {
                break;
            }
        }
        if (pp_frame_begins_stack(f)) {
            f->exact = f->guessed = true;
            v = PP_ENDS;
        }
        store(&out, pp_frame_stored_pc(f), use);
        pp_memo_before_step(use, f);
        v = v == PP_GO_ON ? pp_frame_leave(f) : v;
        pp_memo_after_step(use, f, v != PP_GO_ON);
    }
    walk->computed = f->computes;
    pp_frame_close(f);
    walk->depth = (uint32_t)(out.at - walk->pcs);
    walk->why = v;
    walk->stop = pp_stop_of(v);
    walk->guessed = f->guessed;
    walk->hash = 0;
    pp_memo_close(use, v != PP_GO_ON, walk->skip, walk->wants_hash ? &walk->hash : NULL);
    if (pp_unlikely(out.has_own) && !walk->keeps_own) {
        uint32_t own = pp_own_frames_next(NULL, walk->pcs, 0, walk->depth);
        walk->depth = pp_own_frames_cut(NULL, walk->pcs, own, walk->depth,
                                        is_interrupted ? walk->space : NULL);
        walk->computed = walk->computed || is_interrupted;
        walk->hash = 0;
    }
    if (walk->wants_hash && walk->hash == 0) {
        walk->hash = pp_stack_hash(walk->pcs, walk->depth);
    }
}

/* Sets single fields: to clear the whole frame, with its window, takes as long as three steps. */
static pp_frame *start(pp_walk_space *space)
{
    pp_frame *f = &space->frame;
    f->exact = f->guessed = f->computes = false;
    f->full = NULL;
    f->space = space;
    f->target = NULL;
    return f;
}

void pp_walk_from_context(const void *context, pp_walk *walk)
{
    pp_registers *registers = &walk->space->registers;
    pp_frame *f = start(walk->space);
    pp_registers_from_context(registers, context);
    f->exact = true;
    f->full = registers;
    f->pc = registers->r[PP_REG_PC];
    f->sp = registers->r[PP_REG_SP];
    f->fp = registers->r[PP_REG_FP];
    f->bx = registers->r[PP_REG_BX];
    walk_frames(f, walk);
}

void pp_walk_from_caller(const pp_caller *caller, pp_walk *walk)
{
    pp_frame *f = start(walk->space);
    f->pc = caller->return_address;
    f->sp = caller->sp;
    f->fp = caller->fp;
    f->bx = caller->bx;
    walk_frames(f, walk);
}
