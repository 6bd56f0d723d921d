/* SPDX-License-Identifier: MIT
 *
 * instruction.h: what one instruction does to the stack pointer and to the flow of control.
 *
 * unwind/flow.c follows code that has no call-frame information.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_INSTRUCTION_H
#define PP_ARCH_INSTRUCTION_H

#include <stddef.h>
#include <stdint.h>

typedef enum pp_instruction_kind {
    PP_INSTRUCTION_UNKNOWN, /* cannot be read */
    PP_INSTRUCTION_OTHER,   /* changes none of sp, fp and bx in a way that matters */
    PP_INSTRUCTION_PUSH,    /* of `reg` */
    PP_INSTRUCTION_POP,     /* to `reg` */
    PP_INSTRUCTION_MOVE_SP, /* sp += disp */
    PP_INSTRUCTION_SET,     /* reg = base + disp, of sp and fp; base PP_NO_BASE: unknown */
    PP_INSTRUCTION_LOAD, /* reg = *(base + disp), second = the word after; then sp += moves. The base is sp
                             * or fp. Only fp and bx count as registers. */
    PP_INSTRUCTION_STORE,  /* the reverse */
    PP_INSTRUCTION_LEAVE,  /* sp = fp, then pop fp */
    PP_INSTRUCTION_CALL,   /* of `target`; 0 = not known */
    PP_INSTRUCTION_JUMP,   /* to `target`; 0 = not known */
    PP_INSTRUCTION_BRANCH, /* to `target`, or on */
    PP_INSTRUCTION_TAIL,   /* a jump through a word of memory at a known address: of a stub */
    PP_INSTRUCTION_RETURN,
    PP_INSTRUCTION_STOP /* nothing comes after it */
} pp_instruction_kind;

enum { PP_NO_BASE = 255 };

typedef struct pp_decoded {
    uintptr_t target;
    int32_t disp;
    uint8_t kind; /* pp_instruction_kind */
    uint8_t length;
    int16_t moves;
    uint8_t reg, second, base; /* DWARF numbers; `second` is 0 if there is none */
} pp_decoded;

#if defined(__x86_64__)
enum { PP_INSTRUCTION_MAX = 15 };
#elif defined(__aarch64__)
enum { PP_INSTRUCTION_MAX = 4 };
#else
#error "libpprof cannot read code of this architecture yet: add src/arch/<name>_instruction.c"
#endif

/* Reads the instruction whose bytes are at `code`, and whose address is `pc`. `size`: the bytes that
 * can be read. */
void pp_instruction_read(const uint8_t *code, size_t size, uintptr_t pc, pp_decoded *read);

#endif
