/* SPDX-License-Identifier: MIT
 *
 * instruction.h: what one instruction does to the stack pointer and to the flow of control.
 *
 * unwind/flow.c follows code that has no call-frame information. Where an architecture has no reader of
 * instructions, such code is passed by guesses alone.
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
    PP_INSTRUCTION_LOAD,    /* reg = *(base + disp), base being sp or fp; reg being fp or bx */
    PP_INSTRUCTION_LEAVE,   /* sp = fp, then pop fp */
    PP_INSTRUCTION_CALL,    /* of `target`; 0 = not known */
    PP_INSTRUCTION_JUMP,    /* to `target`; 0 = not known */
    PP_INSTRUCTION_BRANCH,  /* to `target`, or on */
    PP_INSTRUCTION_TAIL,    /* a jump through a word of memory at a known address: of a stub */
    PP_INSTRUCTION_RETURN,
    PP_INSTRUCTION_STOP /* nothing comes after it */
} pp_instruction_kind;

enum { PP_NO_BASE = 255 };

typedef struct pp_decoded {
    uintptr_t target;
    int32_t disp;
    uint8_t kind; /* pp_instruction_kind */
    uint8_t length;
    uint8_t reg, base; /* DWARF numbers */
} pp_decoded;

#if defined(__x86_64__)

enum { PP_INSTRUCTION_MAX = 15 };

/* Reads the instruction whose bytes are at `code`, and whose address is `pc`. `size`: the bytes that
 * can be read. */
void pp_instruction_read(const uint8_t *code, size_t size, uintptr_t pc, pp_decoded *read);

#else

enum { PP_INSTRUCTION_MAX = 1 };

static inline void pp_instruction_read(const uint8_t *code, size_t size, uintptr_t pc,
                                       pp_decoded *read)
{
    (void)code;
    (void)size;
    (void)pc;
    *read = (pp_decoded){.kind = PP_INSTRUCTION_UNKNOWN};
}

#endif

#endif
