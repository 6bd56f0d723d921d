/* SPDX-License-Identifier: MIT
 *
 * x86_64_calls.h: decodes calls, jumps and prologues of x86-64.
 *
 * The unwinder needs the target of a call, the target of a jump, and the size of a prologue's
 * frame.
 *
 * Encodings: Intel SDM, volume 2, CALL, JMP, PUSH, POP, RET, MOV, SUB, ENDBR64.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_CALLS_H
#define PP_ARCH_X86_64_CALLS_H

#include "arch/x86_64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An instruction before a return address; the bytes may have several of these meanings. */
typedef struct pp_call_site {
    uintptr_t target;  /* of a direct call; 0 = none */
    uintptr_t pointer; /* the word with the target of an indirect call; 0 = unknown */
    bool indirect;     /* a call through a register or through memory */
} pp_call_site;

static inline uintptr_t pp_code_relative(const uint8_t *displacement, uintptr_t next)
{
    int32_t relative = 0;
    memcpy(&relative, displacement, sizeof relative);
    return next + (uintptr_t)(intptr_t)relative;
}

/* Decodes `code`, the PP_CALL_BYTES bytes before the return address. */
static inline pp_call_site pp_call_site_at(const uint8_t code[PP_CALL_BYTES],
                                           uintptr_t return_address)
{
    pp_call_site site = {0, 0, false};
    uint8_t bytes[PP_CALL_BYTES];
    memcpy(bytes, code, sizeof bytes);
    if (bytes[PP_CALL_BYTES - 5] == 0xe8) {
        site.target = pp_code_relative(bytes + PP_CALL_BYTES - 4, return_address);
        bytes[PP_CALL_BYTES - 5] = 0; /* the bytes may have another meaning as well */
    }
    site.indirect = pp_ends_with_call(bytes);
    if (site.indirect && bytes[PP_CALL_BYTES - 6] == 0xff &&
        bytes[PP_CALL_BYTES - 5] == 0x15) { /* call *d32(%rip) */
        site.pointer = pp_code_relative(bytes + PP_CALL_BYTES - 4, return_address);
    }
    return site;
}

/* No call-frame information is known that is written after ENDBR64 and holds at it. */
enum { PP_LANDING_BYTES = 0 };

static inline bool pp_is_landing(const uint8_t *code)
{
    (void)code;
    return false;
}

/* Decoding of pushes and pops. The bytes are enough for pushes of six registers, four of them with
 * a prefix, and for what follows. */
enum { PP_PUSHES_BYTES = 16, PP_RETURN_BYTES = 1, PP_NO_REGISTER = -1 };

/* Decodes the push or the pop (`operation`) at code[*at], and moves *at past it. Returns DWARF's
 * number of its register; PP_NO_REGISTER if the instruction is another one. */
static inline int pp_one_register_at(const uint8_t code[PP_PUSHES_BYTES], size_t *at,
                                     uint8_t operation)
{
    /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, in the order of encodings */
    static const uint8_t dwarf_numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
    static const uint8_t prefix_r8_to_r15 = 0x41;
    size_t i = *at;
    if (i + 1 >= PP_PUSHES_BYTES) {
        return PP_NO_REGISTER;
    }
    unsigned extended = code[i] == prefix_r8_to_r15;
    unsigned reg = (unsigned)code[i + extended] - operation;
    if (reg > 7) {
        return PP_NO_REGISTER;
    }
    *at = i + extended + 1;
    return extended ? 8 + (int)reg : dwarf_numbers[reg];
}

static inline int pp_push_at(const uint8_t code[PP_PUSHES_BYTES], size_t *at)
{
    return pp_one_register_at(code, at, 0x50);
}

static inline int pp_pop_at(const uint8_t code[PP_PUSHES_BYTES], size_t *at)
{
    return pp_one_register_at(code, at, 0x58);
}

static inline bool pp_is_return(const uint8_t code[PP_RETURN_BYTES])
{
    return code[0] == 0xc3;
}

/* The first stub of a linkage table has CFI. */
enum { PP_STUB_BYTES = 1 };

static inline bool pp_is_after_stub_push(const uint8_t code[PP_STUB_BYTES])
{
    (void)code;
    return false;
}

enum { PP_JUMP_BYTES = 16 };

/* Decodes code at `at` that only jumps: through the word *pointer (an entry of the PLT), or to
 * *target. False for any other code. */
static inline bool pp_jump_at(const uint8_t code[PP_JUMP_BYTES], uintptr_t at, uintptr_t *pointer,
                              uintptr_t *target)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t i = memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
    i += code[i] == 0xf2; /* bnd */
    *pointer = *target = 0;
    if (code[i] == 0xff && code[i + 1] == 0x25) { /* jmp *d32(%rip) */
        *pointer = pp_code_relative(code + i + 2, at + i + 6);
        return true;
    }
    if (code[i] == 0xe9) { /* jmp d32 */
        *target = pp_code_relative(code + i + 1, at + i + 5);
        return true;
    }
    return false;
}

enum { PP_PROLOGUE_BYTES = 48 };

/*
 * Computes how far the frame pointer is above the stack pointer after a prologue that sets it:
 *
 *   endbr64; push %rbp; mov %rsp,%rbp; push ...; sub $size,%rsp
 *
 * False if the function does not begin so. Later code may take more.
 */
static inline bool pp_prologue_size(const uint8_t code[PP_PROLOGUE_BYTES], uintptr_t *size)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t i = memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
    bool sets_frame_pointer = code[i] == 0x55 && code[i + 1] == 0x48 &&
                              ((code[i + 2] == 0x89 && code[i + 3] == 0xe5) ||
                               (code[i + 2] == 0x8b && code[i + 3] == 0xec));
    *size = 0;
    if (!sets_frame_pointer) {
        return false;
    }
    for (i += 4; i + 8 < PP_PROLOGUE_BYTES; *size += 8) {
        if (code[i] == 0x41 && code[i + 1] >= 0x50 && code[i + 1] <= 0x57) {
            i += 2;
        } else if (code[i] >= 0x50 && code[i] <= 0x57) {
            i++;
        } else {
            break;
        }
    }
    if (code[i] == 0x48 && code[i + 1] == 0x83 && code[i + 2] == 0xec) {
        *size += code[i + 3] < 0x80 ? code[i + 3] : 0x80; /* compilers add 128 by sub $-128 */
    } else if (code[i] == 0x48 && code[i + 1] == 0x81 && code[i + 2] == 0xec) {
        uint32_t more = 0;
        memcpy(&more, code + i + 3, sizeof more);
        *size += more < (1u << 30) ? more : 0;
    }
    return true;
}

#endif
