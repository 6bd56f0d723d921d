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

#define PP_NOP 0xd503201fu

/* HINTs that functions begin with: BTI with any target, PACIASP, PACIBSP, and NOP in the place of one. */
static inline bool pp_is_landing(const uint8_t code[PP_LANDING_BYTES])
{
    uint32_t i = pp_instruction(code);
    return i == PP_NOP || (i & 0xffffff3f) == 0xd503241f || i == 0xd503233f || i == 0xd503237f;
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

enum { PP_STUB_BYTES = 16 };

/* Whether the instructions before a PC are those of the first stub of a linkage table, up to the jump to the
 * loader, with STP x16, x30, [sp, #-16]!, which no compiler makes. */
static inline bool pp_is_after_stub_push(const uint8_t code[PP_STUB_BYTES])
{
    bool pushed = false;
    for (size_t i = 0; i < PP_STUB_BYTES; i += 4) {
        pushed |= pp_instruction(code + i) == 0xa9bf7bf0;
    }
    return pushed;
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
