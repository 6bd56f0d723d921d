/* SPDX-License-Identifier: MIT
 *
 * explain.c: computes the rule of an address, and puts it into words.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.explain, unit.own_frames
 */
#include "unwind/explain.h"

#include "modules/loader.h"
#include "unwind/frame.h"
#include "unwind/rule_cache.h"

/* Leaves the rule of a stored PC in the space. */
static pp_function_range find_rule(const pp_walk_target *target, uintptr_t pc, pp_walk_space *space)
{
    pp_frame *f = &space->frame;
    *f = (pp_frame){.pc = pc, .space = space, .target = target, .epoch = pp_loader_epoch()};
    f->generation = pp_rule_cache_generation(f->epoch);
    pp_function_range function = pp_frame_rule(f);
    pp_frame_close(f);
    return function;
}

uintptr_t pp_function_of(uintptr_t address)
{
    pp_walk_space space;
    return pp_function_within(NULL, address, &space);
}

uintptr_t pp_function_within(const pp_walk_target *target, uintptr_t address, pp_walk_space *space)
{
    pp_function_range function = find_rule(target, address + 1, space);
    return space->rule.kind == PP_RULE_FRAME ? function.start : 0;
}

void pp_explain_address(uintptr_t address, pp_text *text)
{
    char digits[PP_HEX_BYTES];
    pp_text_add(text, "0x");
    pp_text_add(text, pp_hex(address, digits));
}

/* "+16", "-8", or nothing for 0. */
static void add_offset(int64_t offset, pp_text *text)
{
    if (offset != 0) {
        pp_text_add(text, offset < 0 ? "-" : "+");
        pp_text_add_number(text, offset < 0 ? -(uint64_t)offset : (uint64_t)offset);
    }
}

static void add_cfa(const pp_rule *rule, pp_text *text)
{
    pp_text_add(text, rule->cfa_read ? "CFA = *(" : "CFA = ");
    pp_text_add(text, pp_register_name(rule->cfa_reg));
    if (rule->cfa_scale != 0) {
        pp_text_add(text, "+");
        pp_text_add(text, pp_register_name(rule->cfa_index));
        pp_text_add(text, "*");
        pp_text_add_number(text, rule->cfa_scale);
    }
    add_offset(rule->cfa_offset, text);
    if (rule->cfa_read) {
        pp_text_add(text, ")");
        add_offset(rule->cfa_addend, text);
    }
}

static void add_place(const char *what, const pp_where *where, pp_text *text)
{
    bool on_cfa = where->kind == PP_WHERE_CFA || where->kind == PP_WHERE_CFA_VALUE;
    pp_text_add(text, ", ");
    pp_text_add(text, what);
    switch (where->kind) {
    case PP_WHERE_SAME:
        pp_text_add(text, " unchanged");
        return;
    case PP_WHERE_LOST:
        pp_text_add(text, " lost");
        return;
    case PP_WHERE_BEYOND:
        pp_text_add(text, " in a form that is not supported");
        return;
    case PP_WHERE_REGISTER:
        pp_text_add(text, " in ");
        break;
    case PP_WHERE_CFA_VALUE:
        pp_text_add(text, " is ");
        break;
    default:
        pp_text_add(text, " at ");
        break;
    }
    pp_text_add(text, on_cfa ? "CFA" : pp_register_name(where->reg));
    add_offset(where->offset, text);
}

static void add_rule(const pp_rule *rule, pp_text *text)
{
    switch (rule->kind) {
    case PP_RULE_FRAME:
        add_cfa(rule, text);
        add_place("return address", &rule->ra, text);
        add_place(pp_register_name(PP_REG_FP), &rule->fp, text);
        add_place(pp_register_name(PP_REG_BX), &rule->bx, text);
        break;
    case PP_RULE_SIGNAL:
        pp_text_add(text, "a signal frame, with all registers in the kernel's ucontext");
        break;
    case PP_RULE_END:
        pp_text_add(text, "the outermost frame, its return address is undefined");
        break;
    default:
        pp_text_add(text, "nothing that can be used");
        break;
    }
}

void pp_explain_rule(const pp_walk_target *target, uintptr_t pc, uintptr_t bias,
                     pp_walk_space *space, pp_text *text)
{
    pp_function_range function = find_rule(target, pc, space);
    if (function.start != 0) {
        pp_text_add(text, "the FDE of ");
        pp_explain_address(function.start - bias, text);
        pp_text_add(text, "-");
        pp_explain_address(function.limit - bias, text);
        pp_text_add(text, " says: ");
        add_rule(&space->rule, text);
    }
}
