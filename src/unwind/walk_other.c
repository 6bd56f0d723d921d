/* SPDX-License-Identifier: MIT
 *
 * walk_other.c: copies a stack, then steps from frame to frame.
 *
 * Zone: SIGNAL.
 */
#include "unwind/walk_other.h"

#include "arch/calls.h"
#include "arch/hook_layout.h"
#include "arch/instruction.h"
#include "modules/loader.h"
#include "unwind/own_frames.h"
#include "unwind/rule_cache.h"

enum {
    PAGE = 4096,
    PAGES = 4,        /* are read in place, of a stack that nobody unmaps */
    MARK_REACH = 512, /* the mark of a call is looked for so far above SP */
    SP_ALIGN = 16,
    CODE_BYTES = 256, /* of a function, up to where it calls a leaf function */
    LEAF_BYTES = 128  /* of that, up to where it waits */
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

/* Goes on at the caller of a leaf function. */
static pp_reason enter_caller(pp_frame *f, uintptr_t return_address, uintptr_t sp, uintptr_t fp)
{
    f->pc = return_address;
    f->sp = sp;
    f->fp = fp;
    f->bx = 0;
    f->exact = false;
    return PP_GO_ON;
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
        return enter_caller(f, pp_return_address(mark.return_address), at + sizeof mark, mark.fp);
    }
    return PP_RETURN_REGISTER;
}

/* Code that was copied: where it is, and how much of it there is. */
typedef struct code {
    uintptr_t begin;
    size_t size;
    uint8_t bytes[CODE_BYTES];
} code;

static void copy_code(const pp_frame *f, uintptr_t begin, size_t most, code *copy)
{
    copy->begin = begin;
    copy->size = pp_memory_copy_part(pp_target_memory(f->target), copy->bytes, begin, most);
}

/* The instruction at `at`, of a kind that is not known beyond the copy. */
static pp_decoded instruction_at(const code *copy, uintptr_t at)
{
    pp_decoded read = {.kind = PP_INSTRUCTION_UNKNOWN};
    if (at - copy->begin < copy->size) {
        size_t from = at - copy->begin;
        pp_instruction_read(copy->bytes + from, copy->size - from, at, &read);
    }
    return read;
}

/* Whether a function that begins at `start` gets to `pc` without a call, or a change of SP. */
static bool is_leaf(const pp_frame *f, uintptr_t start, uintptr_t pc)
{
    code leaf;
    copy_code(f, start, pc - start, &leaf);
    uintptr_t at = start;
    while (at < pc) {
        pp_decoded i = instruction_at(&leaf, at);
        if ((i.kind != PP_INSTRUCTION_OTHER && i.kind != PP_INSTRUCTION_BRANCH) || i.moves != 0) {
            return false;
        }
        at += i.length;
    }
    return at == pc;
}

/*
 * The return address of the call of the leaf function, in which the frame is, by the function that begins at `start`; 0: it
 * does not call it, or has no frame record at its SP. Sets *size to what the frame of that function has of the stack.
 */
static uintptr_t call_of_leaf(const pp_frame *f, uintptr_t start, size_t *size)
{
    code caller;
    copy_code(f, start, sizeof caller.bytes, &caller);
    pp_decoded first = instruction_at(&caller, start);
    if (first.kind != PP_INSTRUCTION_STORE || first.reg != PP_REG_FP || first.second != PP_REG_RA ||
        first.moves >= 0 || first.disp != first.moves) {
        return 0;
    }
    *size = (size_t)-first.moves;
    uintptr_t at = start;
    pp_decoded i = first;
    while (i.kind != PP_INSTRUCTION_UNKNOWN) {
        at += i.length;
        if (i.kind == PP_INSTRUCTION_CALL && f->pc - i.target < LEAF_BYTES &&
            is_leaf(f, i.target, f->pc)) {
            return at;
        }
        i = instruction_at(&caller, at);
    }
    return 0;
}

/* The function that the call before a return address calls, perhaps by a jump; 0: there is no such call. */
static uintptr_t function_called(const pp_frame *f, uintptr_t return_address)
{
    uint8_t call[PP_CALL_BYTES];
    uint8_t jump[PP_JUMP_BYTES];
    uintptr_t pointer = 0;
    uintptr_t target = 0;
    if (!pp_target_copy(f->target, call, return_address - sizeof call, sizeof call)) {
        return 0;
    }
    uintptr_t start = pp_call_site_at(call, return_address).target;
    bool jumps = start != 0 && pp_target_copy(f->target, jump, start, sizeof jump) &&
                 pp_jump_at(jump, start, &pointer, &target) && pointer == 0;
    return jumps ? target : start;
}

/*
 * Leaves a leaf function without a mark, if its caller's frame record is at SP: so musl makes each system call that is a
 * cancellation point. Code proves it: the record's return address is behind a call of a function, perhaps by a jump, that
 * makes the record, and calls the leaf function. Sets `called` to the place in that function.
 */
static pp_reason leave_by_record(pp_frame *f, uintptr_t *called)
{
    uintptr_t fp = 0;
    uintptr_t word = 0;
    size_t size = 0;
    if (!pp_stack_peek(&f->window, f->sp, &fp) ||
        !pp_stack_peek(&f->window, f->sp + sizeof fp, &word)) {
        return PP_RETURN_REGISTER;
    }
    uintptr_t return_address = pp_return_address(word);
    uintptr_t start = function_called(f, return_address);
    *called = start != 0 ? call_of_leaf(f, start, &size) : 0;
    return *called != 0 ? enter_caller(f, return_address, f->sp + size, fp) : PP_RETURN_REGISTER;
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
            called += called != 0;
            v = v == PP_RETURN_REGISTER ? leave_by_record(f, &called) : v;
            if (called != 0 && walk->depth < walk->capacity) {
                walk->pcs[walk->depth++] = called;
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
