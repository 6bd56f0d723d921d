/* SPDX-License-Identifier: MIT
 *
 * aarch64_instruction.c: reads what an instruction does to sp, x29, x30 and the flow of control.
 *
 * Of loads and stores, those with sp or x29 as the base count. Other writes of x29 and x30 need not be seen: a
 * function that changes them loads them again before it returns (unwind/flow.c).
 *
 * Encodings: Arm Architecture Reference Manual, C4.1 and C6.2.
 *
 * Zone: SIGNAL.
 * Tested by: unit.aarch64
 */
#include "arch/instruction.h"

#if defined(__aarch64__)

#include "arch/calls.h"
#include "arch/registers.h"

#include <stdbool.h>

static bool is_base(unsigned reg)
{
    return reg == PP_REG_SP || reg == PP_REG_FP;
}

/* Whether an access from this base on counts. Code that counts x29 up has something else there. */
static bool may_be_base(unsigned reg, bool is_moved)
{
    return reg == PP_REG_SP || (reg == PP_REG_FP && !is_moved);
}

static void go_to(pp_decoded *i, pp_instruction_kind kind, uintptr_t pc, int64_t distance)
{
    i->kind = (uint8_t)kind;
    i->target = pc + (uintptr_t)distance;
}

/* Reads a branch, jump, call or return; false if it is something else. */
static bool read_flow(uint32_t code, uintptr_t pc, pp_decoded *i)
{
    const uint8_t *bytes = (const uint8_t *)&code;
    if (pp_is_return(bytes)) {
        i->kind = PP_INSTRUCTION_RETURN;
    } else if ((code & 0xffffffdf) == 0xd61f0200) { /* BR x16, BR x17: a stub's */
        i->kind = PP_INSTRUCTION_TAIL;
    } else if (code >> 26 == 0x05) { /* B */
        go_to(i, PP_INSTRUCTION_JUMP, pc, pp_signed_field(code, 0, 26) * 4);
    } else if (code >> 26 == 0x25) { /* BL */
        go_to(i, PP_INSTRUCTION_CALL, pc, pp_signed_field(code, 0, 26) * 4);
    } else if (pp_ends_with_call(bytes)) { /* BLR */
        i->kind = PP_INSTRUCTION_CALL;
    } else if ((code & 0xfebff000) == 0xd61f0000) { /* BR and its forms, RET to another register */
        i->kind = PP_INSTRUCTION_JUMP;
    } else if (code >> 24 == 0x54 || (code & 0x7e000000) == 0x34000000) { /* B.cond, CBZ, CBNZ */
        go_to(i, PP_INSTRUCTION_BRANCH, pc, pp_signed_field(code, 5, 19) * 4);
    } else if ((code & 0x7e000000) == 0x36000000) { /* TBZ, TBNZ */
        go_to(i, PP_INSTRUCTION_BRANCH, pc, pp_signed_field(code, 5, 14) * 4);
    } else if (code >> 16 == 0 || (code & 0xffe0001f) == 0xd4200000) { /* UDF, BRK */
        i->kind = PP_INSTRUCTION_STOP;
    } else {
        return false;
    }
    return true;
}

static void mean_access(pp_decoded *i, bool is_load, unsigned reg, unsigned second)
{
    i->kind = is_load ? PP_INSTRUCTION_LOAD : PP_INSTRUCTION_STORE;
    i->reg = (uint8_t)reg;
    i->second = (uint8_t)second;
}

/* LDP and STP, of x, w, d, s and q registers. */
static bool read_pair(uint32_t code, pp_decoded *i)
{
    unsigned base = code >> 5 & 31;
    unsigned form = code >> 23 & 3; /* 1: after, 2: an offset, 3: before */
    bool moves_base = form == 1 || form == 3;
    if ((code & 0x3a000000) != 0x28000000 || !may_be_base(base, moves_base)) {
        return false;
    }
    bool is_vector = code >> 26 & 1;
    unsigned size = is_vector ? 4u << (code >> 30) : 4u << (code >> 31);
    int32_t offset = (int32_t)(pp_signed_field(code, 15, 7) * size);
    i->base = (uint8_t)base;
    i->disp = form == 1 ? 0 : offset;
    i->moves = (int16_t)(moves_base ? offset : 0);
    if (is_vector || size != 8) {
        mean_access(i, false, PP_NO_BASE, 0);
    } else {
        mean_access(i, code >> 22 & 1, code & 31, code >> 10 & 31);
    }
    return true;
}

/* LDR and STR. */
static void read_single(uint32_t code, pp_decoded *i)
{
    unsigned base = code >> 5 & 31;
    bool is_load = code >> 22 & 1;
    i->base = (uint8_t)base;
    if ((code & 0xff800000) == 0xf9000000 && may_be_base(base, false)) { /* x, [base, #n] */
        i->disp = (int32_t)(code >> 10 & 0xfff) * 8;
        mean_access(i, is_load, code & 31, 0);
        return;
    }
    if ((code & 0x3b200400) != 0x38000400 ||
        !may_be_base(base, true)) { /* [base], #n; [base, #n]! */
        return;
    }
    i->moves = (int16_t)pp_signed_field(code, 12, 9);
    i->disp = code >> 11 & 1 ? i->moves : 0;
    bool is_word = !(code >> 26 & 1) && code >> 30 == 3;
    mean_access(i, is_load && is_word, is_word ? code & 31 : PP_NO_BASE, 0);
}

/* What sets sp or x29: ADD and SUB of a number, among them MOV to and from sp; and others, to an unknown value. */
static bool read_sum(uint32_t code, pp_decoded *i)
{
    unsigned to = code & 31;
    unsigned from = code >> 5 & 31;
    bool is_sum = (code & 0xbf800000) == 0x91000000;
    bool is_mask = (code & 0xff800000) == 0x92000000;        /* AND */
    bool is_of_register = (code & 0xbfe00000) == 0x8b200000; /* ADD and SUB of a register */
    bool is_of_vectors = (code & 0xffa0f000) == 0x04205000;  /* ADDVL, ADDPL: sizes of vectors */
    if (is_sum && is_base(to)) {
        int32_t number = (int32_t)(code >> 10 & 0xfff) << (code >> 22 & 1 ? 12 : 0);
        i->kind = PP_INSTRUCTION_SET;
        i->reg = (uint8_t)to;
        i->base = (uint8_t)(is_base(from) ? from : PP_NO_BASE);
        i->disp = code >> 30 & 1 ? -number : number;
        return true;
    }
    if ((is_mask || is_of_register || is_of_vectors) && to == PP_REG_SP) {
        i->kind = PP_INSTRUCTION_SET;
        i->reg = PP_REG_SP;
        i->base = PP_NO_BASE;
        return true;
    }
    return false;
}

void pp_instruction_read(const uint8_t *code, size_t size, uintptr_t pc, pp_decoded *read)
{
    *read = (pp_decoded){.kind = PP_INSTRUCTION_UNKNOWN};
    if (size < PP_INSTRUCTION_MAX) {
        return;
    }
    uint32_t instruction = pp_instruction(code);
    read->kind = PP_INSTRUCTION_OTHER;
    read->length = PP_INSTRUCTION_MAX;
    if (!read_flow(instruction, pc, read) && !read_sum(instruction, read) &&
        !read_pair(instruction, read)) {
        read_single(instruction, read);
    }
}

#endif
