/* SPDX-License-Identifier: MIT
 *
 * expression.c: symbolic evaluation of the DWARF expressions that occur in CFI.
 *
 * Zone: SIGNAL.
 */
#include "unwind/expression.h"

/* Operation codes, DWARF 5 section 7.7.1. */
enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_SWAP = 0x16,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_NOP = 0x96
};

typedef pp_expression_stack stack;

static void push(stack *s, pp_value value)
{
    if (s->depth == PP_EXPRESSION_DEPTH) {
        s->failed = true;
        return;
    }
    s->value[s->depth++] = value;
}

static void push_number(stack *s, int64_t number)
{
    push(s, (pp_value){.kind = PP_VALUE_NUMBER, .offset = number});
}

static pp_value pop(stack *s)
{
    if (s->depth == 0) {
        s->failed = true;
        return (pp_value){.kind = PP_VALUE_NUMBER};
    }
    return s->value[--s->depth];
}

static int64_t pop_number(stack *s)
{
    pp_value value = pop(s);
    if (value.kind != PP_VALUE_NUMBER) {
        s->failed = true;
    }
    return value.offset;
}

/* The sum of a symbol and a number has the symbol's form; the sum of two symbols has none. */
static void add(stack *s, pp_value symbol, int64_t number)
{
    if (symbol.kind == PP_VALUE_READ) {
        int64_t addend = 0;
        if (__builtin_add_overflow((int64_t)symbol.addend, number, &addend) ||
            addend != (int32_t)addend) {
            s->failed = true;
            return;
        }
        symbol.addend = (int32_t)addend;
    } else if (symbol.kind == PP_VALUE_PRODUCT) {
        s->failed = true;
        return;
    } else {
        symbol.offset = (int64_t)((uint64_t)symbol.offset + (uint64_t)number);
    }
    push(s, symbol);
}

static void add_top_two(stack *s)
{
    pp_value b = pop(s);
    pp_value a = pop(s);
    if (b.kind == PP_VALUE_NUMBER) {
        add(s, a, b.offset);
    } else if (a.kind == PP_VALUE_NUMBER) {
        add(s, b, a.offset);
    } else if (a.kind == PP_VALUE_REGISTER && a.scale == 0 && b.kind == PP_VALUE_PRODUCT) {
        a.index = b.index;
        a.scale = b.scale;
        push(s, a);
    } else {
        s->failed = true;
    }
}

/* A product of a register and a number is an index into an array on the stack. */
static void multiply(stack *s)
{
    pp_value b = pop(s);
    pp_value a = pop(s);
    if (a.kind == PP_VALUE_NUMBER && b.kind == PP_VALUE_NUMBER) {
        push_number(s, (int64_t)((uint64_t)a.offset * (uint64_t)b.offset));
    } else if (a.kind == PP_VALUE_REGISTER && a.offset == 0 && a.scale == 0 &&
               b.kind == PP_VALUE_NUMBER && b.offset > 0 && b.offset <= UINT8_MAX) {
        push(s, (pp_value){.kind = PP_VALUE_PRODUCT, .index = a.reg, .scale = (uint8_t)b.offset});
    } else {
        s->failed = true;
    }
}

static void subtract_top_two(stack *s)
{
    int64_t b = pop_number(s);
    add(s, pop(s), (int64_t)(0 - (uint64_t)b));
}

static void read_top(stack *s)
{
    pp_value value = pop(s);
    if (value.kind != PP_VALUE_REGISTER) {
        s->failed = true;
        return;
    }
    value.kind = PP_VALUE_READ;
    value.addend = 0;
    push(s, value);
}

static void compute(stack *s, uint8_t op)
{
    int64_t b = pop_number(s);
    int64_t a = pop_number(s);
    uint64_t ua = (uint64_t)a;
    uint64_t ub = (uint64_t)b;
    switch (op) {
    case OP_AND:
        push_number(s, a & b);
        break;
    case OP_OR:
        push_number(s, a | b);
        break;
    case OP_SHL:
        push_number(s, ub < 64 ? (int64_t)(ua << ub) : 0);
        break;
    case OP_SHR:
        push_number(s, ub < 64 ? (int64_t)(ua >> ub) : 0);
        break;
    case OP_EQ:
        push_number(s, a == b);
        break;
    case OP_GE:
        push_number(s, a >= b);
        break;
    case OP_GT:
        push_number(s, a > b);
        break;
    case OP_LE:
        push_number(s, a <= b);
        break;
    case OP_LT:
        push_number(s, a < b);
        break;
    default:
        push_number(s, a != b);
        break;
    }
}

static void push_register(stack *s, uint64_t reg, int64_t offset, uintptr_t pc)
{
    if (reg == PP_REG_PC) {
        push_number(s, (int64_t)((uint64_t)pc + (uint64_t)offset));
    } else if (reg < PP_REG_PC) {
        push(s, (pp_value){.kind = PP_VALUE_REGISTER, .reg = (uint8_t)reg, .offset = offset});
    } else {
        s->failed = true;
    }
}

/* Pushes a number from the instruction stream; false if `op` is none that does this. */
static bool push_literal(stack *s, uint8_t op, pp_cursor *cursor)
{
    switch (op) {
    case OP_ADDR:
    case OP_CONST8U:
    case OP_CONST8S:
        push_number(s, (int64_t)pp_cursor_fixed(cursor, 8));
        return true;
    case OP_CONST1U:
        push_number(s, pp_cursor_u8(cursor));
        return true;
    case OP_CONST1S:
        push_number(s, (int8_t)pp_cursor_u8(cursor));
        return true;
    case OP_CONST2U:
        push_number(s, (int64_t)pp_cursor_fixed(cursor, 2));
        return true;
    case OP_CONST2S:
        push_number(s, (int16_t)pp_cursor_fixed(cursor, 2));
        return true;
    case OP_CONST4U:
        push_number(s, (int64_t)pp_cursor_fixed(cursor, 4));
        return true;
    case OP_CONST4S:
        push_number(s, (int32_t)pp_cursor_fixed(cursor, 4));
        return true;
    case OP_CONSTU:
        push_number(s, (int64_t)pp_cursor_uleb(cursor));
        return true;
    case OP_CONSTS:
        push_number(s, pp_cursor_sleb(cursor));
        return true;
    default:
        if (op >= OP_LIT0 && op <= OP_LIT31) {
            push_number(s, op - OP_LIT0);
            return true;
        }
        return false;
    }
}

static void rearrange(stack *s, uint8_t op)
{
    pp_value top = pop(s);
    if (op == OP_DROP) {
        return;
    }
    if (op == OP_DUP) {
        push(s, top);
        push(s, top);
        return;
    }
    pp_value second = pop(s);
    if (op == OP_SWAP) {
        push(s, top);
        push(s, second);
    } else { /* OP_OVER */
        push(s, second);
        push(s, top);
        push(s, second);
    }
}

static void step(stack *s, uint8_t op, pp_cursor *cursor, uintptr_t pc)
{
    if (push_literal(s, op, cursor)) {
        return;
    }
    if (op >= OP_BREG0 && op <= OP_BREG31) {
        push_register(s, (uint64_t)(op - OP_BREG0), pp_cursor_sleb(cursor), pc);
        return;
    }
    switch (op) {
    case OP_BREGX: {
        uint64_t reg = pp_cursor_uleb(cursor);
        push_register(s, reg, pp_cursor_sleb(cursor), pc);
        break;
    }
    case OP_DUP:
    case OP_DROP:
    case OP_OVER:
    case OP_SWAP:
        rearrange(s, op);
        break;
    case OP_DEREF:
        read_top(s);
        break;
    case OP_PLUS:
        add_top_two(s);
        break;
    case OP_PLUS_UCONST:
        add(s, pop(s), (int64_t)pp_cursor_uleb(cursor));
        break;
    case OP_MINUS:
        subtract_top_two(s);
        break;
    case OP_NEG:
        push_number(s, (int64_t)(0 - (uint64_t)pop_number(s)));
        break;
    case OP_NOT:
        push_number(s, ~pop_number(s));
        break;
    case OP_MUL:
        multiply(s);
        break;
    case OP_AND:
    case OP_OR:
    case OP_SHL:
    case OP_SHR:
    case OP_EQ:
    case OP_GE:
    case OP_GT:
    case OP_LE:
    case OP_LT:
    case OP_NE:
        compute(s, op);
        break;
    case OP_NOP:
        break;
    default:
        s->failed = true;
        break;
    }
}

bool pp_expression_reduce(pp_expression_stack *s, pp_cursor *cursor, uint64_t size, uintptr_t pc,
                          bool start_with_cfa, pp_value *result)
{
    s->depth = 0;
    s->failed = false;
    if (cursor->failed || size > cursor->end - cursor->at) {
        pp_cursor_fail(cursor);
        return false;
    }
    uintptr_t end = cursor->at + (uintptr_t)size;
    if (start_with_cfa) {
        push(s, (pp_value){.kind = PP_VALUE_REGISTER, .reg = PP_REG_CFA});
    }
    while (cursor->at < end && !s->failed && !cursor->failed) {
        step(s, pp_cursor_u8(cursor), cursor, pc);
    }
    bool reduced = !s->failed && !cursor->failed && cursor->at == end && s->depth > 0;
    if (reduced) {
        *result = s->value[s->depth - 1];
        reduced = result->kind != PP_VALUE_PRODUCT &&
                  (result->offset == (int32_t)result->offset || result->kind == PP_VALUE_NUMBER);
    }
    if (!cursor->failed) {
        pp_cursor_move(cursor, end); /* the program goes on after an expression that was refused */
    }
    return reduced;
}
