/* SPDX-License-Identifier: MIT
 *
 * epilogue.c: see epilogue.h.
 *
 * Zone: SIGNAL.
 * Tested by: unit.aarch64
 */
#include "unwind/epilogue.h"

#include "arch/calls.h"
#include "base/compiler.h"

enum {
    INSTRUCTIONS_MAX = 4096, /* the largest functions of libcrypto's assembler have 3000 */
    PIECE = 256,             /* bytes read at a time */
    FARTHEST = 0,            /* the place of the branch that leads farthest: out of a loop */
    BRANCHES = 3,            /* it, and the two latest */
    JUMPS_MAX = 8,
    FRAME_MAX = 1 << 20,
    STACK_ALIGNMENT = 16
};

/* The state where a conditional branch leads to. */
typedef struct branch {
    uintptr_t target;
    pp_epilogue state;
} branch;

typedef struct reader {
    const pp_memory *memory;
    uintptr_t lo; /* of the piece; 1: none */
    uint8_t code[PIECE];
    branch branches[BRANCHES];
    unsigned noted;
    unsigned jumps;
    pp_epilogue state;
} reader;
_Static_assert(sizeof(reader) <= PP_EPILOGUE_SPACE, "the caller's memory holds it");

static const uint8_t *code_at(reader *r, uintptr_t pc)
{
    uintptr_t lo = pc & ~(uintptr_t)(PIECE - 1);
    if (lo != r->lo && !pp_memory_copy(r->memory, r->code, lo, PIECE)) {
        return NULL;
    }
    r->lo = lo;
    return r->code + (pc - lo);
}

static void note_branch(reader *r, uintptr_t target, const pp_epilogue *e)
{
    const branch made = {target, *e};
    r->branches[FARTHEST + 1 + r->noted++ % (BRANCHES - 1)] = made;
    if (target > r->branches[FARTHEST].target) {
        r->branches[FARTHEST] = made;
    }
}

/* The first instruction from `pc` on that is not there to fill up. */
static uintptr_t skip_padding(reader *r, uintptr_t pc)
{
    const uint8_t *code = code_at(r, pc);
    while (code != NULL && pp_is_padding(code)) {
        pc += PP_EPILOGUE_BYTES;
        code = code_at(r, pc);
    }
    return pc;
}

/* Goes on after a jump: where a branch has led to the instruction after it, there, with the state of the
 * branch; after a jump back, where the branch out of the loop leads; else at its target. Returns 0 if
 * that does not end. */
static uintptr_t after_jump(reader *r, uintptr_t next, uintptr_t target, pp_epilogue *e)
{
    next = skip_padding(r, next);
    for (unsigned i = 0; i < BRANCHES; i++) {
        if (r->branches[i].target == next) {
            *e = r->branches[i].state;
            return next;
        }
    }
    branch *out = &r->branches[FARTHEST];
    if (target < next && out->target > next) {
        target = out->target;
        *e = out->state;
        out->target = 0;
    }
    return r->jumps++ < JUMPS_MAX ? target : 0;
}

static bool run(reader *r, uintptr_t pc, pp_epilogue *e)
{
    for (unsigned i = 0; i < INSTRUCTIONS_MAX; i++) {
        const uint8_t *code = code_at(r, pc);
        pp_epilogue_step step = code != NULL ? pp_epilogue_next(e, code) : PP_EPILOGUE_UNKNOWN;
        uintptr_t next = pc + PP_EPILOGUE_BYTES;
        switch (step) {
        case PP_EPILOGUE_RETURNS:
            return true;
        case PP_EPILOGUE_UNKNOWN:
            return false;
        case PP_EPILOGUE_BRANCHES:
            if (e->distance > 0) {
                note_branch(r, pc + (uintptr_t)e->distance, e);
            }
            break;
        case PP_EPILOGUE_JUMPS:
            next = after_jump(r, next, pc + (uintptr_t)e->distance, e);
            break;
        default:
            break;
        }
        if (next == 0) {
            return false;
        }
        pc = next;
    }
    return false;
}

static pp_where place(bool is_loaded, int64_t at, const pp_epilogue *e)
{
    bool is_there = is_loaded && (e->on_fp || at >= 0);
    return is_there ? (pp_where){.kind = PP_WHERE_CFA, .offset = (int32_t)(at - e->sp)}
                    : (pp_where){.kind = PP_WHERE_SAME};
}

/* The first stub of a linkage table pushes two registers and jumps to the loader: no epilogue pops them. */
static bool is_in_first_stub(const pp_memory *memory, uintptr_t pc)
{
    uint8_t code[PP_FIRST_STUB_BYTES];
    bool pushed = false;
    if (!PP_HAS_EPILOGUES || !pp_memory_copy(memory, code, pc - sizeof code, sizeof code)) {
        return false;
    }
    for (size_t i = 0; i < sizeof code; i += PP_EPILOGUE_BYTES) {
        pushed |= pp_stub_pushes(code + i);
    }
    return pushed;
}

PP_COLD_PATH bool pp_epilogue_rule(const pp_memory *memory, uintptr_t pc, void *space,
                                   pp_rule *rule)
{
    if (!PP_HAS_EPILOGUES) {
        return false;
    }
    if (is_in_first_stub(memory, pc & ~(uintptr_t)(PP_EPILOGUE_BYTES - 1))) {
        *rule = (pp_rule){.kind = PP_RULE_FRAME,
                          .permanent = rule->permanent,
                          .cfa_reg = PP_REG_SP,
                          .cfa_offset = STACK_ALIGNMENT,
                          .fp = {.kind = PP_WHERE_SAME},
                          .bx = pp_rule_at_entry.bx,
                          .ra = {.kind = PP_WHERE_CFA, .offset = -(int32_t)sizeof(uintptr_t)}};
        return true;
    }
    reader *r = space;
    pp_epilogue *e = &r->state;
    *r = (reader){.memory = memory, .lo = 1};
    if (!run(r, pc & ~(uintptr_t)(PP_EPILOGUE_BYTES - 1), e) || e->sp < 0 || e->sp > FRAME_MAX ||
        e->sp % STACK_ALIGNMENT != 0) {
        return false;
    }
    *rule = (pp_rule){.kind = PP_RULE_FRAME,
                      .permanent = rule->permanent,
                      .cfa_reg = e->on_fp ? PP_REG_FP : PP_REG_SP,
                      .cfa_offset = (int32_t)e->sp,
                      .fp = place(e->loads_fp, e->fp_at, e),
                      .bx = pp_rule_at_entry.bx,
                      .ra = place(e->loads_link, e->link_at, e)};
    return true;
}
