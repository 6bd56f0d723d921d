/* SPDX-License-Identifier: MIT
 *
 * flow.c: follows instructions to a return, or from a function's begin.
 *
 * Zone: SIGNAL.
 * Tested by: unit.flow, unit.aarch64, e2e.musl
 */
#include "unwind/flow.h"

#include "arch/calls.h"
#include "arch/instruction.h"
#include "arch/registers.h"
#include "base/compiler.h"

enum {
    WORD = 8,
    RETURN_SIZE = PP_RETURN_ON_STACK ? WORD : 0, /* what a call pushes */
    STEPS_MAX = 6000, /* instructions in all; a function of musl has some hundred */
    CALL_STEPS = 400, /* instructions of one function that is called */
    CALLS_DEEP = 3,   /* pthread_exit calls exit, that _Exit */
    WAYS_MAX = 16,    /* that wait to be followed, in one function */
    JUMPS_MAX = 200,  /* that were followed */
    CALL_JUMPS_MAX = 96,
    CALLS_WAYS_MAX = 2 * WAYS_MAX, /* of all that are called */
    CALLS_JUMPS_MAX = 2 * CALL_JUMPS_MAX,
    CODE_BYTES = 96,
    PAGE = 4096 /* the smallest page size of Linux */
};

typedef enum place_kind { SAME, AT, IS, UNKNOWN } place_kind; /* SAME is 0 */

/* Where the caller's value of a register is. AT: *(base + offset); IS: base + offset, of the registers
 * at the PC. */
typedef struct place {
    int32_t offset;
    uint8_t kind; /* place_kind */
    bool is_fp;   /* the base is fp; else sp */
} place;

/* The state before an instruction. */
typedef struct way {
    int32_t at;       /* from the PC of the rule */
    place sp, fp, bx; /* sp: IS or UNKNOWN */
    struct pushed {
        place at, value; /* where this way has pushed the register last, and what that held */
    } pushed_fp, pushed_bx;
} way;

/* The jumps that were followed in one function. Their addresses are cut: nearly all are within 64 KiB. */
typedef struct jumps {
    unsigned count, max;
    uint16_t *at;
} jumps;

/* The search for a return in a function that is called. Its lists begin where those of its caller end. */
typedef struct callee {
    int32_t at; /* the next instruction, from the PC of the rule */
    unsigned waiting_count, steps;
    int32_t *waiting;
    jumps jumps;
} callee;

typedef struct flow {
    const pp_memory *memory;
    uintptr_t pc;
    unsigned steps;
    bool is_incomplete;     /* some way was not followed to its end */
    bool leads_to_pc;       /* from the function's begin */
    bool is_return_address; /* the PC; if it leads there */
    way way;
    way waiting[WAYS_MAX];
    unsigned waiting_count;
    jumps jumps;
    uint16_t jump_at[JUMPS_MAX];
    callee callee[CALLS_DEEP];
    int32_t call_waiting[CALLS_WAYS_MAX];
    uint16_t call_jump_at[CALLS_JUMPS_MAX];
    uintptr_t code_at;
    size_t code_size;
    uint8_t code[CODE_BYTES];
} flow;
_Static_assert(sizeof(flow) <= PP_FLOW_SPACE, "the caller's memory holds it");

/* ---- code ---- */

/* Reads the code at `at` up to the end of its page, and further if it can be. */
static void read_code(flow *f, uintptr_t at)
{
    size_t first = PAGE - at % PAGE;
    first = first < sizeof f->code ? first : sizeof f->code;
    f->code_at = at;
    f->code_size = pp_memory_copy(f->memory, f->code, at, first) ? first : 0;
    if (f->code_size != 0 && first < sizeof f->code &&
        pp_memory_copy(f->memory, f->code + first, at + first, sizeof f->code - first)) {
        f->code_size = sizeof f->code;
    }
}

static bool read_instruction(flow *f, int32_t offset, pp_decoded *read)
{
    uintptr_t at = f->pc + (uintptr_t)(intptr_t)offset;
    if (f->steps == STEPS_MAX) {
        return false;
    }
    f->steps++;
    if (at < f->code_at || at + PP_INSTRUCTION_MAX > f->code_at + f->code_size) {
        read_code(f, at);
    }
    pp_instruction_read(f->code + (at - f->code_at), f->code_size - (at - f->code_at), at, read);
    return read->kind != PP_INSTRUCTION_UNKNOWN;
}

/* Where a jump leads, from the PC; false if that is too far away to be noted. */
static bool find_target(const flow *f, const pp_decoded *i, int32_t *offset)
{
    intptr_t distance = (intptr_t)(i->target - f->pc);
    *offset = (int32_t)distance;
    return i->target != 0 && distance == *offset;
}

/* Notes a jump. A list that is full takes no more, and the way ends. */
static bool was_followed(flow *f, jumps *j, int32_t at)
{
    for (unsigned i = 0; i < j->count; i++) {
        if (j->at[i] == (uint16_t)at) {
            return true;
        }
    }
    if (j->count == j->max) {
        f->is_incomplete = true;
        return true;
    }
    j->at[j->count++] = (uint16_t)at;
    return false;
}

/* ---- calls ---- */

typedef enum step { GOES_ON, CALLS, IS_OVER, IS_FOUND } step;

/* Takes one instruction of a function that is called. */
static step take_in_call(flow *f, callee *c, pp_decoded *i)
{
    int32_t target = 0;
    if (c->steps++ == CALL_STEPS || !read_instruction(f, c->at, i)) {
        return IS_FOUND; /* cannot be told: most functions return */
    }
    switch (i->kind) {
    case PP_INSTRUCTION_RETURN:
    case PP_INSTRUCTION_TAIL:
        return IS_FOUND;
    case PP_INSTRUCTION_STOP:
        return IS_OVER;
    case PP_INSTRUCTION_JUMP:
        if (!find_target(f, i, &target)) {
            return IS_FOUND;
        }
        if (was_followed(f, &c->jumps, c->at)) {
            return IS_OVER;
        }
        c->at = target;
        return GOES_ON;
    case PP_INSTRUCTION_BRANCH:
        if (was_followed(f, &c->jumps, c->at)) {
            return IS_OVER;
        }
        if (c->waiting_count == WAYS_MAX || !find_target(f, i, &target)) {
            return IS_FOUND;
        }
        c->waiting[c->waiting_count++] = target;
        break;
    default:
        break;
    }
    c->at += i->length;
    return i->kind == PP_INSTRUCTION_CALL ? CALLS : GOES_ON;
}

/* Begins to follow a function that is called. */
static bool enter(flow *f, unsigned depth, const pp_decoded *call)
{
    int32_t function = 0;
    callee c = {.waiting = f->call_waiting,
                .jumps = {.max = CALL_JUMPS_MAX, .at = f->call_jump_at}};
    if (depth == CALLS_DEEP || !find_target(f, call, &function)) {
        return false;
    }
    if (depth > 0) {
        const callee *caller = &f->callee[depth - 1];
        c.waiting = caller->waiting + caller->waiting_count;
        c.jumps.at = caller->jumps.at + caller->jumps.count;
    }
    if (c.waiting + WAYS_MAX > f->call_waiting + CALLS_WAYS_MAX ||
        c.jumps.at + CALL_JUMPS_MAX > f->call_jump_at + CALLS_JUMPS_MAX) {
        return false;
    }
    c.at = function;
    f->callee[depth] = c;
    return true;
}

/* Whether a function returns, as far as can be told. No recursion: this runs on the stack that a sample interrupts. */
static bool returns(flow *f, const pp_decoded *call)
{
    pp_decoded i;
    callee *c = f->callee;
    if (!enter(f, 0, call)) {
        return true;
    }
    for (;;) {
        switch (take_in_call(f, c, &i)) {
        case CALLS:
            c += enter(f, (unsigned)(c - f->callee) + 1, &i);
            break;
        case IS_FOUND:
            if (c == f->callee) {
                return true;
            }
            c--; /* which goes on after its call */
            break;
        case IS_OVER:
            for (; c->waiting_count == 0; c--) { /* a way with such a call is over, too */
                if (c == f->callee) {
                    return false;
                }
            }
            c->at = c->waiting[--c->waiting_count];
            break;
        default:
            break;
        }
    }
}

/* ---- registers ---- */

static place add(place p, int32_t disp)
{
    p.offset += disp;
    return p;
}

/* The value of a register of the way, as far as it is known: IS, or UNKNOWN. */
static place value_of(const way *w, uint8_t reg)
{
    if (reg == PP_REG_SP) {
        return w->sp;
    }
    if (reg == PP_REG_FP && w->fp.kind == SAME) {
        return (place){.kind = IS, .is_fp = true};
    }
    return reg == PP_REG_FP && w->fp.kind == IS ? w->fp : (place){.kind = UNKNOWN};
}

static place word_at(place address)
{
    address.kind = address.kind == IS ? AT : UNKNOWN;
    return address;
}

static void set_register(way *w, uint8_t reg, place value)
{
    switch (reg) {
    case PP_REG_SP:
        w->sp = value;
        break;
    case PP_REG_FP:
        w->fp = value;
        break;
    case PP_REG_BX:
        w->bx = value;
        break;
    default:
        break;
    }
}

/* What is read back from where this way has pushed it. If one place counts from fp and the other from sp,
 * they are taken for the same: a function with a frame pointer pushes the register once. */
static place read_back(place from, const struct pushed *pushed)
{
    bool is_pushed = pushed->at.kind == AT && from.kind == AT &&
                     (pushed->at.is_fp != from.is_fp || pushed->at.offset == from.offset);
    return is_pushed ? pushed->value : from;
}

static void load(way *w, uint8_t reg, place from)
{
    place word = word_at(from);
    set_register(w, reg,
                 reg == PP_REG_FP   ? read_back(word, &w->pushed_fp)
                 : reg == PP_REG_BX ? read_back(word, &w->pushed_bx)
                                    : word);
}

static void store(way *w, uint8_t reg, place to)
{
    if (reg == PP_REG_FP) {
        w->pushed_fp = (struct pushed){word_at(to), w->fp};
    } else if (reg == PP_REG_BX) {
        w->pushed_bx = (struct pushed){word_at(to), w->bx};
    }
}

static void push(way *w, uint8_t reg)
{
    w->sp = add(w->sp, -WORD);
    store(w, reg, w->sp);
}

static void pop(way *w, uint8_t reg)
{
    load(w, reg, w->sp);
    w->sp = add(w->sp, WORD);
}

/* ---- results ---- */

static uint8_t register_of(place p)
{
    return p.is_fp ? PP_REG_FP : PP_REG_SP;
}

static pp_where where_of(place p, const way *w)
{
    if (p.kind == SAME) {
        return (pp_where){.kind = PP_WHERE_SAME};
    }
    if (p.kind != AT) {
        return (pp_where){.kind = PP_WHERE_LOST};
    }
    if (p.is_fp == w->sp.is_fp) {
        return (pp_where){.kind = PP_WHERE_CFA, .offset = p.offset - w->sp.offset - RETURN_SIZE};
    }
    return (pp_where){.kind = PP_WHERE_MEMORY, .reg = register_of(p), .offset = p.offset};
}

/* Whether the stack pointer can be that of a return: not below that at the PC. */
static bool can_return(const way *w)
{
    return w->sp.kind == IS && (w->sp.is_fp || w->sp.offset >= 0);
}

/* What a rule says of bx, which may have the return address. */
static pp_where *place_of_bx(pp_rule *rule)
{
    return PP_RETURN_ON_STACK ? &rule->bx : &rule->ra;
}

/* The rule of a way that has come to a return. */
static void write_rule(const way *w, pp_rule *rule)
{
    *rule = pp_rule_at_entry;
    rule->cfa_reg = register_of(w->sp);
    rule->cfa_offset = w->sp.offset + RETURN_SIZE;
    rule->fp = where_of(w->fp, w);
    *place_of_bx(rule) = where_of(w->bx, w);
}

/* Where the caller's value of a register is: a function changes it only after it has pushed it. */
static pp_where where_since(place now, const struct pushed *pushed)
{
    if (pushed->at.kind == AT && !pushed->at.is_fp && pushed->value.kind == SAME) {
        return (pp_where){.kind = PP_WHERE_CFA, .offset = pushed->at.offset - RETURN_SIZE};
    }
    return (pp_where){.kind = now.kind == SAME ? PP_WHERE_SAME : PP_WHERE_LOST};
}

/* The rule of a way from the function's begin, where the return address is at sp. */
static bool write_rule_since(const way *w, pp_rule *rule)
{
    if (w->sp.kind != IS || w->sp.is_fp || w->sp.offset > 0) {
        return false;
    }
    *rule = pp_rule_at_entry;
    rule->cfa_reg = PP_REG_SP;
    rule->cfa_offset = RETURN_SIZE - w->sp.offset;
    rule->fp = where_since(w->fp, &w->pushed_fp);
    *place_of_bx(rule) = where_since(w->bx, &w->pushed_bx);
    return true;
}

/* ---- ways ---- */

static step branch(flow *f, const pp_decoded *i)
{
    int32_t target = 0;
    if (was_followed(f, &f->jumps, f->way.at)) {
        return IS_OVER;
    }
    if (f->waiting_count == WAYS_MAX || !find_target(f, i, &target)) {
        f->is_incomplete = true;
        return GOES_ON;
    }
    f->waiting[f->waiting_count] = f->way;
    f->waiting[f->waiting_count++].at = target;
    return GOES_ON;
}

/* Without a known target, the jump leads to a case of a switch, or to another function. */
static step jump(flow *f, const pp_decoded *i)
{
    int32_t target = 0;
    if (!find_target(f, i, &target)) {
        f->is_incomplete = true;
        return IS_OVER;
    }
    if (was_followed(f, &f->jumps, f->way.at)) {
        return IS_OVER;
    }
    f->way.at = target;
    return GOES_ON;
}

static step give_up(flow *f)
{
    f->is_incomplete = true;
    return IS_OVER;
}

static void read_or_write(way *w, const pp_decoded *i)
{
    void (*const move)(way *, uint8_t, place) = i->kind == PP_INSTRUCTION_LOAD ? load : store;
    place first = add(value_of(w, i->base), i->disp);
    move(w, i->reg, first);
    move(w, i->second, add(first, WORD));
    w->sp = add(w->sp, i->moves);
}

static step take(flow *f)
{
    way *w = &f->way;
    pp_decoded i;
    if (f->leads_to_pc && w->at == 0) {
        return IS_FOUND;
    }
    if (!read_instruction(f, w->at, &i)) {
        return give_up(f);
    }
    if (f->leads_to_pc && f->is_return_address && i.kind == PP_INSTRUCTION_CALL &&
        w->at + i.length == 0) {
        return IS_FOUND; /* the call is under way, whether or not it returns */
    }
    switch (i.kind) {
    case PP_INSTRUCTION_PUSH:
        push(w, i.reg);
        break;
    case PP_INSTRUCTION_POP:
        pop(w, i.reg);
        break;
    case PP_INSTRUCTION_MOVE_SP:
        w->sp = add(w->sp, i.disp);
        break;
    case PP_INSTRUCTION_SET:
        set_register(w, i.reg, add(value_of(w, i.base), i.disp));
        break;
    case PP_INSTRUCTION_LOAD:
    case PP_INSTRUCTION_STORE:
        read_or_write(w, &i);
        break;
    case PP_INSTRUCTION_LEAVE:
        w->sp = value_of(w, PP_REG_FP);
        pop(w, PP_REG_FP);
        break;
    case PP_INSTRUCTION_JUMP:
        return jump(f, &i);
    case PP_INSTRUCTION_BRANCH:
        if (branch(f, &i) == IS_OVER) {
            return IS_OVER;
        }
        break;
    case PP_INSTRUCTION_CALL:
        if (!returns(f, &i)) {
            return IS_OVER;
        }
        break;
    case PP_INSTRUCTION_RETURN:
    case PP_INSTRUCTION_TAIL:
        return f->leads_to_pc ? IS_OVER : can_return(w) ? IS_FOUND : give_up(f);
    case PP_INSTRUCTION_STOP:
        return IS_OVER;
    default:
        break;
    }
    w->at += i.length;
    return GOES_ON;
}

/* Follows all ways from `begin`; leaves the one that has arrived in f->way. */
static pp_flow_end follow(flow *f, const pp_memory *memory, uintptr_t pc, uintptr_t begin)
{
    f->memory = memory;
    f->pc = pc;
    f->steps = f->waiting_count = 0;
    f->jumps = (jumps){.max = JUMPS_MAX, .at = f->jump_at};
    f->is_incomplete = false;
    f->leads_to_pc = begin != pc;
    f->code_at = f->code_size = 0;
    f->way = (way){.at = (int32_t)(intptr_t)(begin - pc), .sp = {.kind = IS}};
    for (;;) {
        step result = GOES_ON;
        while (result == GOES_ON) {
            result = take(f);
        }
        if (result == IS_FOUND) {
            return PP_FLOW_RETURNS;
        }
        if (f->waiting_count == 0) {
            return f->is_incomplete ? PP_FLOW_UNKNOWN : PP_FLOW_NEVER;
        }
        f->way = f->waiting[--f->waiting_count];
    }
}

/* The first stub of a linkage table pushes two registers and jumps to the loader. No return tells what it has
 * pushed. */
static bool is_rule_of_stub(const pp_memory *memory, uintptr_t pc, pp_rule *rule)
{
    uint8_t code[PP_STUB_BYTES];
    if (PP_RETURN_ON_STACK || !pp_memory_copy(memory, code, pc - sizeof code, sizeof code) ||
        !pp_is_after_stub_push(code)) {
        return false;
    }
    *rule = pp_rule_at_entry;
    rule->cfa_offset = 2 * WORD;
    rule->ra = (pp_where){.kind = PP_WHERE_CFA, .offset = -WORD};
    return true;
}

PP_COLD_PATH pp_flow_end pp_flow_rule(const pp_memory *memory, uintptr_t pc, void *space,
                                      pp_rule *rule)
{
    flow *f = space;
    if (is_rule_of_stub(memory, pc, rule)) {
        return PP_FLOW_RETURNS;
    }
    pp_flow_end end = follow(f, memory, pc, pc);
    if (end == PP_FLOW_RETURNS) {
        write_rule(&f->way, rule);
    }
    return end;
}

PP_COLD_PATH pp_flow_end pp_flow_rule_since(const pp_memory *memory, uintptr_t begin, uintptr_t pc,
                                            bool is_return_address, void *space, pp_rule *rule)
{
    flow *f = space;
    f->is_return_address = is_return_address;
    pp_flow_end end = follow(f, memory, pc, begin);
    return end == PP_FLOW_RETURNS && !write_rule_since(&f->way, rule) ? PP_FLOW_UNKNOWN : end;
}
