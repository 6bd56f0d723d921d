/* SPDX-License-Identifier: MIT
 *
 * instruction.h: the few x86-64 instructions that a shadow stack has to tell apart.
 *
 * Only calls need their length: what they push is known without reading it from the stack.
 * Encodings: Intel SDM, volume 2, CALL, JMP, RET, SYSCALL.
 *
 * Zone: tests.
 */
#ifndef PP_COMPARE_INSTRUCTION_H
#define PP_COMPARE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSTRUCTION_MAX = 15 };

typedef enum instruction_kind {
    INSTRUCTION_OTHER,
    INSTRUCTION_CALL,
    INSTRUCTION_RETURN,
    INSTRUCTION_JUMP, /* through a register or memory; direct jumps are OTHER */
    INSTRUCTION_SYSTEM_CALL
} instruction_kind;

typedef struct instruction {
    uint8_t kind;   /* instruction_kind */
    uint8_t length; /* of calls, else 0 */
} instruction;

static inline bool instruction_is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e: /* notrack */
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf2: /* bnd */
    case 0xf3:
        return true;
    default:
        return byte >= 0x40 && byte <= 0x4f; /* REX */
    }
}

/* Bytes of ModRM, SIB and displacement. */
static inline size_t instruction_operand_bytes(const uint8_t *modrm)
{
    unsigned mod = modrm[0] >> 6;
    unsigned rm = modrm[0] & 7;
    size_t bytes = 1;
    if (mod == 3) {
        return bytes;
    }
    if (rm == 4) {
        bytes++;
        if (mod == 0 && (modrm[1] & 7) == 5) {
            bytes += 4;
        }
    } else if (mod == 0 && rm == 5) {
        bytes += 4;
    }
    return bytes + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* `code` has INSTRUCTION_MAX bytes, filled up with zeros. */
static inline instruction instruction_decode(const uint8_t code[INSTRUCTION_MAX])
{
    size_t at = 0;
    while (at < INSTRUCTION_MAX - 6 && instruction_is_prefix(code[at])) {
        at++;
    }
    switch (code[at]) {
    case 0xe8:
        return (instruction){INSTRUCTION_CALL, (uint8_t)(at + 5)};
    case 0xc2:
    case 0xc3:
        return (instruction){INSTRUCTION_RETURN, 0};
    case 0x0f:
        return (instruction){code[at + 1] == 0x05 ? INSTRUCTION_SYSTEM_CALL : INSTRUCTION_OTHER, 0};
    case 0xff:
        break;
    default:
        return (instruction){INSTRUCTION_OTHER, 0};
    }
    switch (code[at + 1] >> 3 & 7) {
    case 2:
        return (instruction){INSTRUCTION_CALL,
                             (uint8_t)(at + 1 + instruction_operand_bytes(code + at + 1))};
    case 4:
        return (instruction){INSTRUCTION_JUMP, 0};
    default:
        return (instruction){INSTRUCTION_OTHER, 0};
    }
}

#endif
