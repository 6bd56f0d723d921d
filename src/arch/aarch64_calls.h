/* SPDX-License-Identifier: MIT
 *
 * aarch64_calls.h: decodes calls, jumps and prologues of aarch64.
 *
 * The unwinder needs the target of a call, the target of a jump, and the size of a prologue's frame.
 *
 * Encodings: Arm Architecture Reference Manual, C4.1 and C6.2.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_AARCH64_CALLS_H
#define PP_ARCH_AARCH64_CALLS_H

#include "arch/aarch64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The call before a return address. */
typedef struct pp_call_site {
    uintptr_t target;  /* of a direct call; 0 = none */
    uintptr_t pointer; /* 0: the instruction does not say where the target of an indirect call is */
    bool indirect;     /* a call through a register */
} pp_call_site;

/* The sign-extended field of `bits` bits at bit `low`. */
static inline int64_t pp_signed_field(uint32_t instruction, unsigned low, unsigned bits)
{
    int64_t field = (int64_t)(instruction >> low & ((1u << bits) - 1));
    int64_t sign = (int64_t)1 << (bits - 1);
    return (field ^ sign) - sign;
}

/* Decodes `code`, the PP_CALL_BYTES bytes before the return address. */
static inline pp_call_site pp_call_site_at(const uint8_t code[PP_CALL_BYTES],
                                           uintptr_t return_address)
{
    pp_call_site site = {0, 0, false};
    uint32_t i = pp_instruction(code);
    if (i >> 26 == 0x25) { /* BL */
        site.target = return_address - PP_CALL_BYTES + (uintptr_t)(pp_signed_field(i, 0, 26) * 4);
    } else {
        site.indirect = pp_ends_with_call(code);
    }
    return site;
}

/* No instruction pushes one register. */
enum { PP_PUSHES_BYTES = 16, PP_RETURN_BYTES = 4, PP_NO_REGISTER = -1 };

static inline int pp_push_at(const uint8_t code[PP_PUSHES_BYTES], size_t *at)
{
    (void)code;
    (void)at;
    return PP_NO_REGISTER;
}

static inline int pp_pop_at(const uint8_t code[PP_PUSHES_BYTES], size_t *at)
{
    (void)code;
    (void)at;
    return PP_NO_REGISTER;
}

/* RET, RETAA, RETAB. */
static inline bool pp_is_return(const uint8_t code[PP_RETURN_BYTES])
{
    uint32_t i = pp_instruction(code);
    return i == 0xd65f03c0 || i == 0xd65f0bff || i == 0xd65f0fff;
}

enum { PP_LANDING_BYTES = 4 };

/* HINTs that functions begin with: BTI with any target, PACIASP, PACIBSP, and NOP in the place of one. */
static inline bool pp_is_landing(const uint8_t code[PP_LANDING_BYTES])
{
    uint32_t i = pp_instruction(code);
    return i == 0xd503201f || (i & 0xffffff3f) == 0xd503241f || i == 0xd503233f || i == 0xd503237f;
}

/* Decodes ADRP x16; LDR x17, [x16, #offset]: false if the two are others. *slot is the address that
 * LDR reads. */
static inline bool pp_slot_of_stub(uint32_t adrp, uint32_t load, uintptr_t at, uintptr_t *slot)
{
    if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211) {
        return false;
    }
    uint32_t low = adrp >> 29 & 3;
    int64_t pages = pp_signed_field(adrp, 5, 19) * 4 + low;
    *slot = (at & ~(uintptr_t)0xfff) + (uintptr_t)(pages * 4096) + (load >> 10 & 0xfff) * 8;
    return true;
}

enum {
    PP_HAS_EPILOGUES = true,
    PP_EPILOGUE_BYTES = 4,
    PP_FIRST_STUB_BYTES = 16 /* from the push to the jump */
};

/* STP x16, x30, [sp, #-16]!, which no compiler makes. */
static inline bool pp_stub_pushes(const uint8_t code[PP_EPILOGUE_BYTES])
{
    return pp_instruction(code) == 0xa9bf7bf0;
}

/* A load of the frame pointer or the link register from the stack. */
static inline void pp_epilogue_load(pp_epilogue *e, unsigned reg, int64_t at)
{
    if (reg == PP_REG_FP) {
        e->loads_fp = true;
        e->fp_at = at;
    } else if (reg == PP_REG_BX) {
        e->loads_link = true;
        e->link_at = at;
    }
}

/* LDP and STP, of x, w, d, s and q registers, with SP as the base: moves SP, and notes loads. */
static inline bool pp_epilogue_pair(pp_epilogue *e, uint32_t i)
{
    if ((i & 0x3a0003e0) != 0x280003e0) {
        return false;
    }
    bool is_vector = i >> 26 & 1;
    unsigned size = is_vector ? 4u << (i >> 30) : 4u << (i >> 31);
    unsigned form = i >> 23 & 3; /* 1: after, 2: an offset, 3: before */
    int64_t offset = pp_signed_field(i, 15, 7) * size;
    int64_t at = e->sp + (form == 1 ? 0 : offset);
    if ((i >> 22 & 1) != 0 && !is_vector && size == 8) {
        pp_epilogue_load(e, i & 31, at);
        pp_epilogue_load(e, i >> 10 & 31, at + 8);
    }
    e->sp += form == 1 || form == 3 ? offset : 0;
    return true;
}

/* LDR and STR, with SP as the base. */
static inline bool pp_epilogue_single(pp_epilogue *e, uint32_t i)
{
    bool is_load = (i >> 22 & 1) != 0;
    bool is_vector = i >> 26 & 1;
    if ((i & 0xffc003e0) == 0xf94003e0) { /* LDR x, [sp, #n] */
        pp_epilogue_load(e, i & 31, e->sp + (int64_t)(i >> 10 & 0xfff) * 8);
        return true;
    }
    if ((i & 0x3b2007e0) != 0x380007e0) { /* neither [sp], #n nor [sp, #n]! */
        return false;
    }
    int64_t offset = pp_signed_field(i, 12, 9);
    bool is_before = i >> 11 & 1;
    if (is_load && !is_vector && i >> 30 == 3) {
        pp_epilogue_load(e, i & 31, e->sp + (is_before ? offset : 0));
    }
    e->sp += offset;
    return true;
}

/* ADD and SUB of a number that set SP or the frame pointer, among them MOV to and from SP. */
static inline pp_epilogue_step pp_epilogue_sum(pp_epilogue *e, uint32_t i)
{
    unsigned to = i & 31;
    unsigned from = i >> 5 & 31;
    int64_t number = (int64_t)(i >> 10 & 0xfff) << (i >> 22 & 1 ? 12 : 0);
    number = i >> 30 & 1 ? -number : number;
    if (to == PP_REG_FP && from == PP_REG_SP) {
        e->sets_fp = true;
        e->fp = e->sp + number;
    } else if (to == PP_REG_SP && from == PP_REG_SP) {
        e->sp += number;
    } else if (to == PP_REG_SP && from == PP_REG_FP && e->sets_fp) {
        e->sp = e->fp + number;
    } else if (to == PP_REG_SP && from == PP_REG_FP && !e->loads_fp) {
        e->on_fp = true;
        e->loads_link = false;
        e->sp = number;
    } else if (to == PP_REG_SP) {
        return PP_EPILOGUE_UNKNOWN;
    }
    return PP_EPILOGUE_GOES_ON;
}

/* NOP, or nothing. */
static inline bool pp_is_padding(const uint8_t code[PP_EPILOGUE_BYTES])
{
    uint32_t i = pp_instruction(code);
    return i == 0xd503201f || i == 0;
}

static inline pp_epilogue_step pp_epilogue_next(pp_epilogue *e,
                                                const uint8_t code[PP_EPILOGUE_BYTES])
{
    uint32_t i = pp_instruction(code);
    if (pp_is_return(code) || (i & 0xffffffdf) == 0xd61f0200) { /* or BR x16, BR x17: a stub's */
        return PP_EPILOGUE_RETURNS;
    }
    if (i >> 26 == 0x05) { /* B */
        e->distance = pp_signed_field(i, 0, 26) * 4;
        return PP_EPILOGUE_JUMPS;
    }
    if (i >> 24 == 0x54 || (i & 0x7e000000) == 0x34000000) { /* B.cond, CBZ, CBNZ */
        e->distance = pp_signed_field(i, 5, 19) * 4;
        return PP_EPILOGUE_BRANCHES;
    }
    if ((i & 0x7e000000) == 0x36000000) { /* TBZ, TBNZ */
        e->distance = pp_signed_field(i, 5, 14) * 4;
        return PP_EPILOGUE_BRANCHES;
    }
    if ((i & 0xbf800000) == 0x91000000) {
        return pp_epilogue_sum(e, i);
    }
    if ((i & 0xff80001f) == 0x9200001f) { /* AND sp, x, #n */
        return PP_EPILOGUE_UNKNOWN;
    }
    if (!pp_epilogue_pair(e, i)) {
        pp_epilogue_single(e, i);
    }
    return PP_EPILOGUE_GOES_ON;
}

enum { PP_JUMP_BYTES = 12 };

/* Decodes code at `at` that only jumps: through the word *pointer (an entry of the PLT), or to
 * *target. False for any other code. */
static inline bool pp_jump_at(const uint8_t code[PP_JUMP_BYTES], uintptr_t at, uintptr_t *pointer,
                              uintptr_t *target)
{
    size_t i = pp_is_landing(code) ? 4 : 0;
    uint32_t first = pp_instruction(code + i);
    *pointer = *target = 0;
    if (first >> 26 == 0x05) { /* B */
        *target = at + i + (uintptr_t)(pp_signed_field(first, 0, 26) * 4);
        return true;
    }
    return pp_slot_of_stub(first, pp_instruction(code + i + 4), at + i, pointer);
}

enum { PP_PROLOGUE_BYTES = 48 };

/*
 * Computes how far the frame pointer is above the stack pointer after a prologue that sets it:
 *
 *   paciasp; stp x29, x30, [sp, #-N]!; mov x29, sp         0
 *   paciasp; sub sp, sp, #N; ...; add x29, sp, #size       size
 *
 * False if the function does not begin so. Later code may take more.
 */
static inline bool pp_prologue_size(const uint8_t code[PP_PROLOGUE_BYTES], uintptr_t *size)
{
    *size = 0;
    for (size_t i = 0; i < PP_PROLOGUE_BYTES; i += 4) {
        uint32_t instruction = pp_instruction(code + i);
        if ((instruction & 0xffc003ff) == 0x910003fd) { /* ADD x29, sp, #size */
            *size = instruction >> 10 & 0xfff;
            return true;
        }
    }
    return false;
}

#endif
