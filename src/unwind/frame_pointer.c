/* SPDX-License-Identifier: MIT
 *
 * frame_pointer.c: candidates for a frame pointer, and the evidence for each.
 *
 * Zone: SIGNAL.
 * Tested by: unit.walk_other, e2e.thread_profile
 */
#include "unwind/frame_pointer.h"

#include "arch/calls.h"
#include "base/compiler.h"
#include "unwind/walk_space.h"

#include <string.h>

enum {
    WORD = 8,
    STACK_ALIGNMENT = 16,   /* of every CFA (System V ABI) */
    SEARCH_BYTES = 1 << 16, /* the largest frame */
    JUMPS = 3               /* through stubs, from a call to the function */
};

/* Which function the call before a return address leads to. */
typedef enum evidence { ANOTHER, PERHAPS, THIS } evidence;

/* ---- calls ---- */

static bool read_pointer(const pp_walk_target *process, uintptr_t at, uintptr_t *value)
{
    return pp_target_copy(process, value, at, sizeof *value);
}

/* Whether a call of `target` leads to `function`, directly or through the PLT. */
static bool leads_to(const pp_walk_target *process, uintptr_t target, uintptr_t function)
{
    for (unsigned i = 0; i < JUMPS && target != function; i++) {
        uint8_t code[PP_JUMP_BYTES];
        uintptr_t pointer = 0;
        uintptr_t next = 0;
        if (!pp_target_copy(process, code, target, sizeof code) ||
            !pp_jump_at(code, target, &pointer, &next) ||
            (pointer != 0 && !read_pointer(process, pointer, &next))) {
            return false;
        }
        target = next;
    }
    return target == function;
}

static evidence examine(const pp_walk_target *process, uintptr_t return_address, uintptr_t function)
{
    uint8_t code[PP_CALL_BYTES];
    uintptr_t target = 0;
    pp_module module;
    if (!pp_target_find(process, return_address - 1, &module) ||
        !pp_target_copy(process, code, return_address - sizeof code, sizeof code)) {
        return ANOTHER;
    }
    pp_call_site site = pp_call_site_at(code, return_address);
    if (site.target != 0 && leads_to(process, site.target, function)) {
        return THIS;
    }
    if (site.pointer != 0 && read_pointer(process, site.pointer, &target)) {
        return leads_to(process, target, function) ? THIS : ANOTHER;
    }
    return site.indirect ? PERHAPS : ANOTHER;
}

/* Whether there is a call before the address, of any function: the function that was called may
 * have come to this one by a tail call. */
static bool is_behind_call(const pp_walk_target *process, uintptr_t return_address)
{
    uint8_t code[PP_CALL_BYTES];
    pp_module module;
    return pp_target_find(process, return_address - 1, &module) &&
           pp_target_copy(process, code, return_address - sizeof code, sizeof code) &&
           pp_ends_with_call(code);
}

/* ---- candidates ---- */

/* Finds the address that the frame would return to if its frame pointer were `fp`; false if `fp`
 * cannot be its frame pointer. */
static bool try_candidate(pp_frame *f, const pp_rule *rule, uintptr_t fp, uintptr_t *return_address)
{
    uintptr_t cfa = fp + (uintptr_t)(intptr_t)rule->cfa_offset;
    if (rule->cfa_read) {
        if (!pp_stack_peek(&f->window, cfa, &cfa)) {
            return false;
        }
        cfa += (uintptr_t)(intptr_t)rule->cfa_addend;
    }
    return cfa > f->sp && cfa - f->sp < SEARCH_BYTES && cfa % STACK_ALIGNMENT == 0 &&
           pp_stack_peek(&f->window, cfa + (uintptr_t)(intptr_t)rule->ra.offset, return_address) &&
           *return_address != 0;
}

static void accept(pp_frame *f, pp_fp_place *place, uintptr_t fp, uintptr_t return_address)
{
    place->distance = fp - f->sp;
    place->return_address = return_address;
    f->fp = fp;
}

/* Accepts the first candidate for which there is this evidence, or better. */
static bool search_for(pp_frame *f, pp_fp_place *place, evidence least)
{
    uintptr_t first = (f->sp + place->least + (WORD - 1)) & ~(uintptr_t)(WORD - 1);
    uintptr_t last_seen = 0;
    for (uintptr_t fp = first; fp - f->sp < SEARCH_BYTES; fp += WORD) {
        uintptr_t return_address = 0;
        if (!try_candidate(f, &place->rule, fp, &return_address) || return_address == last_seen) {
            continue;
        }
        last_seen = return_address;
        if (examine(f->target, return_address, place->function) >= least) {
            accept(f, place, fp, return_address);
            return true;
        }
    }
    return false;
}

/* Tries the place directly after what the prologue allots. Any call there is evidence enough. */
static bool is_where_prologue_says(pp_frame *f, pp_fp_place *place)
{
    uintptr_t fp = f->sp + place->least;
    uintptr_t return_address = 0;
    if (place->least == 0 || !try_candidate(f, &place->rule, fp, &return_address) ||
        !is_behind_call(f->target, return_address)) {
        return false;
    }
    accept(f, place, fp, return_address);
    return true;
}

/* Tries the distance that was right the last time. */
static bool is_as_before(pp_frame *f, pp_fp_place *place)
{
    uintptr_t fp = f->sp + place->distance;
    uintptr_t return_address = 0;
    if (place->return_address == 0 || !try_candidate(f, &place->rule, fp, &return_address) ||
        return_address != place->return_address) {
        return false;
    }
    f->fp = fp;
    return true;
}

/* ---- places ---- */

static uintptr_t prologue_size(const pp_walk_target *process, uintptr_t function)
{
    uint8_t code[PP_PROLOGUE_BYTES];
    uintptr_t size = 0;
    return pp_memory_copy_part(pp_target_memory(process), code, function, sizeof code) ==
                       sizeof code &&
                   pp_prologue_size(code, &size)
               ? size
               : 0;
}

static void learn_place(pp_frame *f, pp_fp_place *place)
{
    *place = (pp_fp_place){.pc = f->pc};
    place->function = pp_frame_rule(f).start;
    if (place->function != 0 && f->space->rule.kind == PP_RULE_FRAME) {
        place->rule = f->space->rule;
        place->least = prologue_size(f->target, place->function);
    }
}

static bool stands_on_fp(const pp_rule *rule)
{
    return rule->kind == PP_RULE_FRAME && rule->cfa_reg == PP_REG_FP && rule->cfa_scale == 0 &&
           pp_rule_is_usual_return(rule);
}

PP_COLD_PATH bool pp_frame_pointer_find(pp_frame *f, pp_fp_search *search)
{
    pp_fp_place *place = &search->place[f->pc % PP_FP_PLACES];
    if (f->fp != 0) {
        return false;
    }
    if (place->pc != f->pc) {
        learn_place(f, place);
    }
    return stands_on_fp(&place->rule) &&
           (is_as_before(f, place) || is_where_prologue_says(f, place) ||
            search_for(f, place, THIS) || search_for(f, place, PERHAPS));
}
