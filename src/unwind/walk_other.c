/* SPDX-License-Identifier: MIT
 *
 * walk_other.c: copies a stack, then steps from frame to frame.
 *
 * Zone: SIGNAL.
 */
#include "unwind/walk_other.h"

#include "arch/hook_layout.h"
#include "modules/loader.h"
#include "unwind/own_frames.h"
#include "unwind/rule_cache.h"

enum {
    PAGE = 4096,
    PAGES = 4,        /* are read in place, of a stack that nobody unmaps */
    MARK_REACH = 512, /* the mark of a call is looked for so far above SP */
    SP_ALIGN = 16
};

static bool needs_frame_pointer(const pp_frame *f)
{
    uint64_t entry = pp_rule_cache_lookup(pp_frame_instruction(f), f->generation);
    return f->fp == 0 && entry != 0 && pp_packed_base(entry) == PP_BASE_FP;
}

static pp_reason leave(pp_frame *f, pp_fp_search *search)
{
    if (needs_frame_pointer(f)) {
        return pp_frame_pointer_find(f, search) ? pp_frame_leave(f) : PP_CFA_REGISTER;
    }
    pp_reason v = pp_frame_leave(f);
    if (v == PP_CFA_REGISTER && pp_frame_pointer_find(f, search)) {
        v = pp_frame_leave(f);
    }
    return v;
}

/*
 * Leaves a leaf function by the mark that a hook has on the stack during a call of a function that may wait in one
 * (pp_call_mark, arch/hook_layout.h): the return address is in the link register alone, of which the kernel tells
 * nothing. Goes on at the caller of the hook. Sets `called` to the function that the hook has called, of whose code
 * the place is not known; 0 if it is the leaf function itself.
 */
static pp_reason leave_by_mark(pp_frame *f, uintptr_t *called)
{
    for (uintptr_t at = f->sp; at - f->sp < MARK_REACH; at += SP_ALIGN) {
        pp_call_mark mark = {0};
        if (!pp_stack_peek(&f->window, at, &mark.function) ||
            !pp_stack_peek(&f->window, at + offsetof(pp_call_mark, check), &mark.check)) {
            break;
        }
        if (mark.function == 0 || (mark.function ^ at) != mark.check) {
            continue;
        }
        if (!pp_stack_peek(&f->window, at + offsetof(pp_call_mark, fp), &mark.fp) ||
            !pp_stack_peek(&f->window, at + offsetof(pp_call_mark, return_address),
                           &mark.return_address)) {
            break;
        }
        *called = pp_frame_rule(f).start == mark.function ? 0 : mark.function;
        f->pc = pp_return_address(mark.return_address);
        f->sp = at + sizeof mark;
        f->fp = mark.fp;
        f->bx = 0;
        f->exact = false;
        return PP_GO_ON;
    }
    return PP_RETURN_REGISTER;
}

static void copy_stack(pp_other_space *space, uintptr_t sp, pp_stack_image *image)
{
    uintptr_t lo = sp & ~(uintptr_t)15;
    size_t copied =
        pp_memory_copy_part(pp_target_memory(space->target), space->image, lo, sizeof space->image);
    *image = (pp_stack_image){lo, lo + (copied & ~(size_t)15), space->image};
}

static void walk_frames(pp_frame *f, const pp_stack_image *image, pp_other_space *space,
                        pp_walk *walk)
{
    pp_reason v = PP_GO_ON;
    f->epoch = pp_loader_epoch();
    f->generation = pp_rule_cache_generation(f->epoch);
    pp_stack_window_open_other(&f->window, pp_target_memory(f->target), image, &space->space.stack);
    walk->depth = 0;
    while (v == PP_GO_ON && walk->depth < walk->capacity) {
        if (pp_frame_begins_stack(f)) {
            f->exact = f->guessed = true;
            v = PP_ENDS;
        }
        walk->pcs[walk->depth++] = pp_frame_stored_pc(f);
        space->last = (pp_last_frame){pp_frame_stored_pc(f), f->sp, f->fp, f->bx};
        v = v == PP_GO_ON ? leave(f, &space->search) : v;
        if (!PP_RETURN_ON_STACK && v == PP_RETURN_REGISTER && f->exact) {
            uintptr_t called = 0;
            v = leave_by_mark(f, &called);
            if (called != 0 && walk->depth < walk->capacity) {
                walk->pcs[walk->depth++] = called + 1;
            }
        }
    }
    pp_frame_close(f);
    walk->why = v;
    walk->stop = pp_stop_of(v);
    walk->guessed = f->guessed;
    uint32_t own = pp_own_frames_next(f->target, walk->pcs, 0, walk->depth);
    if (own < walk->depth) {
        walk->depth = pp_own_frames_cut(f->target, walk->pcs, own, walk->depth, &space->space);
    }
}

void pp_walk_other(uintptr_t pc, uintptr_t sp, pp_other_space *space, pp_walk *walk)
{
    pp_frame *f = &space->space.frame;
    pp_stack_image image;
    copy_stack(space, sp, &image);
    *f = (pp_frame){
        .pc = pc, .sp = sp, .exact = true, .space = &space->space, .target = space->target};
    walk_frames(f, &image, space, walk);
}

/* The image is the stack itself, as far as pages are readable; what is beyond them is copied. */
static pp_stack_image stack_in_place(uintptr_t sp, uintptr_t end)
{
    uintptr_t lo = sp & ~(uintptr_t)15;
    uintptr_t hi = lo;
    for (unsigned pages = 0; pages < PAGES && hi < end && pp_page_readable(hi); pages++) {
        hi = (hi | (PAGE - 1)) + 1;
    }
    hi = hi < end ? hi : end & ~(uintptr_t)15;
    return (pp_stack_image){lo, hi, (const uint8_t *)lo};
}

void pp_walk_other_caller(const pp_caller *caller, uintptr_t end, pp_other_space *space,
                          pp_walk *walk)
{
    pp_frame *f = &space->space.frame;
    pp_stack_image image = stack_in_place(caller->sp, end);
    *f = (pp_frame){.pc = caller->return_address,
                    .sp = caller->sp,
                    .fp = caller->fp,
                    .bx = caller->bx,
                    .space = &space->space,
                    .target = space->target};
    walk_frames(f, &image, space, walk);
}

void pp_walk_other_from(const pp_registers *registers, const pp_stack_image *image,
                        pp_other_space *space, pp_walk *walk)
{
    pp_frame *f = &space->space.frame;
    space->space.registers = *registers;
    const uintptr_t *r = space->space.registers.r;
    *f = (pp_frame){.pc = r[PP_REG_PC],
                    .sp = r[PP_REG_SP],
                    .fp = r[PP_REG_FP],
                    .bx = r[PP_REG_BX],
                    .exact = true,
                    .full = &space->space.registers,
                    .space = &space->space,
                    .target = space->target};
    walk_frames(f, image, space, walk);
}
