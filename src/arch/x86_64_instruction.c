/* SPDX-License-Identifier: MIT
 *
 * x86_64_instruction.c: reads the length of an instruction, and what it does to rsp, rbp and rbx.
 *
 *   [prefixes][REX | VEX | EVEX][opcode: 1 byte, 0f + 1, 0f 38 + 1, 0f 3a + 1][ModRM][SIB][disp][imm]
 *
 * The lengths follow from the opcode maps (Intel SDM volume 2, appendix A). An instruction that
 * writes rsp in a way that this code does not follow sets it to an unknown value. Other writes of rbp
 * and rbx need not be seen: a function that changes them loads or pops them again before it returns,
 * and what is loaded last counts (unwind/flow.c).
 *
 * Zone: SIGNAL.
 * Tested by: unit.instruction
 */
#include "arch/instruction.h"

#if defined(__x86_64__)

#include "arch/registers.h"

#include <stdbool.h>

/* Numbers of registers in instructions. */
enum { BX = 3, SP = 4, BP = 5 };

/* What follows an opcode. */
enum {
    MODRM = 1,
    IMM8 = 2,
    IMM16 = 4,
    IMM_Z = 8,   /* 4 bytes; 2 with the prefix 66 */
    IMM_V = 16,  /* likewise; 8 with REX.W */
    MOFFS = 32,  /* 8 bytes */
    GROUP3 = 64, /* an immediate with /0 and /1 */
    NONE = 128   /* no such instruction */
};

typedef struct reader {
    const uint8_t *code;
    size_t size, at;
    bool failed;
    bool short_immediate, wide; /* prefix 66, REX.W */
    uint8_t rex;
    uint8_t map;    /* 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a */
    bool is_vector; /* VEX or EVEX */
    uint8_t opcode, mod, reg, rm, base;
    bool has_index, is_pc_relative;
    int32_t disp, immediate;
} reader;

static uint8_t next(reader *r)
{
    if (r->at >= r->size || r->at >= PP_INSTRUCTION_MAX) {
        r->failed = true;
        return 0;
    }
    return r->code[r->at++];
}

static int32_t next_number(reader *r, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++) {
        uint32_t byte = next(r);
        value |= i < sizeof value ? byte << 8 * i : 0;
    }
    switch (bytes) {
    case 1:
        return (int8_t)value;
    case 2:
        return (int16_t)value;
    default:
        return (int32_t)value;
    }
}

/* ---- opcodes ---- */

static unsigned shape_of_arithmetic(uint8_t opcode)
{
    switch (opcode & 7) {
    case 4:
        return IMM8;
    case 5:
        return IMM_Z;
    case 6:
    case 7:
        return NONE;
    default:
        return MODRM;
    }
}

static unsigned shape_of_upper_half(uint8_t opcode)
{
    switch (opcode) {
    case 0xc0:
    case 0xc1:
    case 0xc6:
        return MODRM | IMM8;
    case 0xc2:
    case 0xca:
        return IMM16;
    case 0xc7:
        return MODRM | IMM_Z;
    case 0xc8:
        return IMM16 | IMM8;
    case 0xcd:
        return IMM8;
    case 0xe8:
    case 0xe9:
        return IMM_Z;
    case 0xf6:
    case 0xf7:
        return MODRM | GROUP3;
    case 0xfe:
    case 0xff:
        return MODRM;
    case 0xce:
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xea:
        return NONE;
    default:
        break;
    }
    if (opcode <= 0xcf) {
        return 0;
    }
    if (opcode <= 0xd3 || (opcode >= 0xd8 && opcode <= 0xdf)) {
        return MODRM;
    }
    return (opcode >= 0xe0 && opcode <= 0xe7) || opcode == 0xeb ? IMM8 : 0;
}

static unsigned shape_of_one_byte(uint8_t opcode)
{
    if (opcode < 0x40) {
        return shape_of_arithmetic(opcode);
    }
    if (opcode >= 0xc0) {
        return shape_of_upper_half(opcode);
    }
    if (opcode >= 0xb0) {
        return opcode < 0xb8 ? IMM8 : IMM_V;
    }
    if ((opcode & 0xf0) == 0x70) {
        return IMM8;
    }
    if (opcode >= 0x84 && opcode <= 0x8f) {
        return MODRM;
    }
    switch (opcode) {
    case 0x60:
    case 0x61:
    case 0x62:
    case 0x82:
    case 0x9a:
        return NONE;
    case 0x63:
        return MODRM;
    case 0x68:
    case 0xa9:
        return IMM_Z;
    case 0x69:
    case 0x81:
        return MODRM | IMM_Z;
    case 0x6a:
    case 0xa8:
        return IMM8;
    case 0x6b:
    case 0x80:
    case 0x83:
        return MODRM | IMM8;
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
        return MOFFS;
    default:
        return 0;
    }
}

static unsigned shape_of_two_bytes(uint8_t opcode, bool is_vector)
{
    if (opcode >= 0x80 && opcode <= 0x8f && !is_vector) {
        return IMM_Z;
    }
    if ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
        (opcode >= 0xc4 && opcode <= 0xc6)) {
        return MODRM | IMM8;
    }
    if (is_vector) {
        return opcode == 0x77 ? 0 : MODRM;
    }
    if ((opcode >= 0x30 && opcode <= 0x37) || (opcode >= 0xc8 && opcode <= 0xcf)) {
        return 0;
    }
    switch (opcode) {
    case 0x05:
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x0b:
    case 0x0e:
    case 0x77:
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa8:
    case 0xa9:
    case 0xaa:
        return 0;
    case 0x0f:
    case 0xa4:
    case 0xac:
    case 0xba:
        return MODRM | IMM8;
    case 0x04:
    case 0x0a:
    case 0x0c:
        return NONE;
    default:
        return MODRM;
    }
}

static unsigned shape_of(const reader *r)
{
    switch (r->map) {
    case 0:
        return shape_of_one_byte(r->opcode);
    case 1:
        return shape_of_two_bytes(r->opcode, r->is_vector);
    case 2:
        return MODRM;
    case 3:
        return MODRM | IMM8;
    default:
        return r->is_vector ? MODRM : NONE; /* AVX512-FP16 */
    }
}

/* ---- parts ---- */

/* Reads prefixes; returns the first byte after them. */
static uint8_t read_prefixes(reader *r)
{
    for (;;) {
        uint8_t byte = next(r);
        switch (byte) {
        case 0x66:
            r->short_immediate = true;
            break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0x67:
        case 0xf0:
        case 0xf2:
        case 0xf3:
            break;
        default:
            return byte;
        }
        if (r->failed) {
            return 0;
        }
    }
}

static void read_vector_opcode(reader *r, uint8_t first)
{
    uint8_t payload = next(r);
    r->is_vector = true;
    r->map = 1;
    if (first == 0xc4) {
        r->map = payload & 31;
        next(r);
    } else if (first == 0x62) {
        r->map = payload & 7;
        next(r);
        next(r);
    }
    r->opcode = next(r);
}

static void read_opcode(reader *r)
{
    uint8_t byte = read_prefixes(r);
    if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
        read_vector_opcode(r, byte);
        return;
    }
    if ((byte & 0xf0) == 0x40) {
        r->rex = byte;
        r->wide = byte & 8;
        byte = next(r);
    }
    if (byte == 0x0f) {
        r->map = 1;
        byte = next(r);
        if (byte == 0x38 || byte == 0x3a) {
            r->map = byte == 0x38 ? 2 : 3;
            byte = next(r);
        }
    }
    r->opcode = byte;
}

static void read_operand(reader *r)
{
    uint8_t modrm = next(r);
    r->mod = modrm >> 6;
    r->reg = (uint8_t)((modrm >> 3 & 7) | (r->rex & 4) << 1);
    r->rm = (uint8_t)((modrm & 7) | (r->rex & 1) << 3);
    r->base = r->rm;
    if (r->mod == 3) {
        return;
    }
    bool has_address = r->mod == 0 && (modrm & 7) == BP;
    r->is_pc_relative = has_address;
    if ((modrm & 7) == SP) {
        uint8_t sib = next(r);
        r->base = (uint8_t)((sib & 7) | (r->rex & 1) << 3);
        r->has_index = (sib >> 3 & 7) != SP || (r->rex & 2);
        has_address = r->mod == 0 && (sib & 7) == BP;
    }
    if (has_address) {
        r->base = PP_NO_BASE;
    }
    r->disp = r->mod == 1 ? next_number(r, 1) : has_address || r->mod == 2 ? next_number(r, 4) : 0;
}

static void read_immediates(reader *r, unsigned shape)
{
    unsigned bytes = r->short_immediate ? 2 : 4;
    if (shape & GROUP3 && (r->reg & 7) < 2) {
        shape |= r->opcode == 0xf6 ? IMM8 : IMM_Z;
    }
    if (shape & MOFFS || (shape & IMM_V && r->wide)) {
        next_number(r, 8);
        return;
    }
    if (shape & (IMM_Z | IMM_V)) {
        /* Calls and branches have 4 bytes whatever the prefix. */
        bool is_branch = r->opcode == 0xe8 || r->opcode == 0xe9 || r->map == 1;
        r->immediate = next_number(r, is_branch ? 4 : bytes);
    }
    if (shape & IMM16) {
        r->immediate = next_number(r, 2);
    }
    if (shape & IMM8) {
        r->immediate = next_number(r, 1);
    }
}

/* ---- meanings ---- */

static uint8_t dwarf_number(unsigned reg)
{
    switch (reg) {
    case BX:
        return PP_REG_BX;
    case SP:
        return PP_REG_SP;
    case BP:
        return PP_REG_FP;
    default:
        return PP_NO_BASE;
    }
}

static bool is_of_stack(const reader *r)
{
    return r->mod != 3 && !r->has_index && !r->is_pc_relative && (r->base == SP || r->base == BP);
}

static void set(pp_decoded *i, unsigned reg, unsigned base, int32_t disp)
{
    i->kind = PP_INSTRUCTION_SET;
    i->reg = dwarf_number(reg);
    i->base = base == SP || base == BP ? dwarf_number(base) : PP_NO_BASE;
    i->disp = disp;
}

/* mov: from `from` to `to`, both registers. */
static void move(pp_decoded *i, unsigned to, unsigned from)
{
    if (to == SP || (to == BP && from == SP)) {
        set(i, to, from, 0);
    }
}

static void arithmetic_with_immediate(const reader *r, pp_decoded *i)
{
    enum { ADD = 0, SUB = 5, CMP = 7 };
    if (r->mod != 3 || r->rm != SP || (r->reg & 7) == CMP) {
        return;
    }
    if ((r->reg & 7) != ADD && (r->reg & 7) != SUB) {
        set(i, SP, PP_NO_BASE, 0);
        return;
    }
    i->kind = PP_INSTRUCTION_MOVE_SP;
    i->disp = (r->reg & 7) == ADD ? r->immediate : -r->immediate;
}

static void indirect(const reader *r, pp_decoded *i)
{
    switch (r->reg & 7) {
    case 2:
        i->kind = PP_INSTRUCTION_CALL;
        break;
    case 4:
        i->kind = r->is_pc_relative ? PP_INSTRUCTION_TAIL : PP_INSTRUCTION_JUMP;
        break;
    case 6:
        i->kind = PP_INSTRUCTION_PUSH;
        i->reg = PP_NO_BASE;
        break;
    default:
        break;
    }
}

static void take_operands(const reader *r, pp_decoded *i)
{
    switch (r->opcode) {
    case 0x01: /* add, sub, and ... register to register */
    case 0x21:
    case 0x29:
        if (r->mod == 3 && r->rm == SP) {
            set(i, SP, PP_NO_BASE, 0);
        }
        break;
    case 0x03:
    case 0x23:
    case 0x2b:
    case 0x87:
        if (r->reg == SP || (r->opcode == 0x87 && r->mod == 3 && r->rm == SP)) {
            set(i, SP, PP_NO_BASE, 0);
        }
        break;
    case 0x81:
    case 0x83:
        arithmetic_with_immediate(r, i);
        break;
    case 0x89:
        if (r->mod == 3) {
            move(i, r->rm, r->reg);
        }
        break;
    case 0x8b:
        if (r->mod == 3) {
            move(i, r->reg, r->rm);
        } else if (r->reg == SP) {
            set(i, SP, PP_NO_BASE, 0);
        } else if ((r->reg == BX || r->reg == BP) && is_of_stack(r)) {
            i->kind = PP_INSTRUCTION_LOAD;
            i->reg = dwarf_number(r->reg);
            i->base = dwarf_number(r->base);
            i->disp = r->disp;
        }
        break;
    case 0x8d:
        if (r->reg == SP || (r->reg == BP && is_of_stack(r) && r->base == SP)) {
            set(i, r->reg, is_of_stack(r) ? r->base : PP_NO_BASE, r->disp);
        }
        break;
    case 0x8f:
        i->kind = PP_INSTRUCTION_POP;
        i->reg = PP_NO_BASE;
        break;
    case 0xff:
        indirect(r, i);
        break;
    default:
        break;
    }
}

static void go_to(pp_decoded *i, pp_instruction_kind kind, uintptr_t pc, int32_t distance)
{
    i->kind = (uint8_t)kind;
    i->target = pc + i->length + (uintptr_t)(intptr_t)distance;
}

static void mean_one_byte(const reader *r, uintptr_t pc, pp_decoded *i)
{
    unsigned reg = (r->opcode & 7u) | (r->rex & 1u) << 3;
    switch (r->opcode) {
    case 0x68:
    case 0x6a:
    case 0x9c:
        i->kind = PP_INSTRUCTION_PUSH;
        i->reg = PP_NO_BASE;
        return;
    case 0x9d:
        i->kind = PP_INSTRUCTION_POP;
        i->reg = PP_NO_BASE;
        return;
    case 0xc3:
        i->kind = PP_INSTRUCTION_RETURN;
        return;
    case 0xc9:
        i->kind = PP_INSTRUCTION_LEAVE;
        return;
    case 0xc2: /* the caller's stack pointer would be another one */
    case 0xc8:
    case 0xca:
    case 0xcb:
    case 0xcc:
    case 0xcf:
    case 0xf4:
        i->kind = PP_INSTRUCTION_STOP;
        return;
    case 0xe8:
        go_to(i, PP_INSTRUCTION_CALL, pc, r->immediate);
        return;
    case 0xe9:
    case 0xeb:
        go_to(i, PP_INSTRUCTION_JUMP, pc, r->immediate);
        return;
    default:
        break;
    }
    if ((r->opcode & 0xf0) == 0x70 || (r->opcode >= 0xe0 && r->opcode <= 0xe3)) {
        go_to(i, PP_INSTRUCTION_BRANCH, pc, r->immediate);
    } else if ((r->opcode & 0xf8) == 0x50) {
        i->kind = PP_INSTRUCTION_PUSH;
        i->reg = dwarf_number(reg);
    } else if ((r->opcode & 0xf8) == 0x58) {
        i->kind = PP_INSTRUCTION_POP;
        i->reg = dwarf_number(reg);
    } else {
        take_operands(r, i);
    }
}

static void mean_two_bytes(const reader *r, uintptr_t pc, pp_decoded *i)
{
    if ((r->opcode & 0xf0) == 0x80) {
        go_to(i, PP_INSTRUCTION_BRANCH, pc, r->immediate);
    } else if (r->opcode == 0x0b) {
        i->kind = PP_INSTRUCTION_STOP;
    } else if (r->opcode == 0xa0 || r->opcode == 0xa8) {
        i->kind = PP_INSTRUCTION_PUSH;
        i->reg = PP_NO_BASE;
    } else if (r->opcode == 0xa1 || r->opcode == 0xa9) {
        i->kind = PP_INSTRUCTION_POP;
        i->reg = PP_NO_BASE;
    }
}

void pp_instruction_read(const uint8_t *code, size_t size, uintptr_t pc, pp_decoded *read)
{
    reader r = {.code = code, .size = size, .base = PP_NO_BASE};
    *read = (pp_decoded){.kind = PP_INSTRUCTION_UNKNOWN};
    read_opcode(&r);
    unsigned shape = shape_of(&r);
    if (shape & MODRM) {
        read_operand(&r);
    }
    read_immediates(&r, shape);
    if (r.failed || shape & NONE) {
        return;
    }
    read->kind = PP_INSTRUCTION_OTHER;
    read->length = (uint8_t)r.at;
    if (r.map == 0 && !r.is_vector) {
        mean_one_byte(&r, pc, read);
    } else if (r.map == 1 && !r.is_vector) {
        mean_two_bytes(&r, pc, read);
    }
}

#endif
