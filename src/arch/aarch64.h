/* SPDX-License-Identifier: MIT
 *
 * aarch64.h: registers of aarch64, by their DWARF numbers (DWARF for the Arm 64-bit Architecture,
 * section 4.1).
 *
 *   0-28 x0-x28  29 frame pointer  30 link register  31 sp  32 pc
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_AARCH64_H
#define PP_ARCH_AARCH64_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum {
    PP_REG_FP = 29,
    PP_REG_BX = 30, /* a call leaves the return address there */
    PP_REG_RA = 30, /* of CFI */
    PP_REG_SP = 31,
    PP_REG_PC = 32,
    PP_REG_COUNT = 33
};

/* Registers that a call may destroy (AAPCS64): x0-x18. */
#define PP_CALL_CLOBBERED 0x7ffffu

/* User addresses have 48 bits; the kernel gives larger ones only on request. */
#define PP_ADDRESS_BITS 48

#define PP_CODE_SHIFT 2

#define PP_RETURN_ON_STACK 0
#define PP_FRAME_TOP()     ((uintptr_t)__builtin_dwarf_cfa()) /* x29 points to the lower end */

/* A function may use nothing below SP (AAPCS64). */
#define PP_RED_ZONE 0

/* A thread's stack ends less than this above its control block, which the variables of all libraries that
 * are loaded at the start come after, and a reserve for others. */
#define PP_ABOVE_CONTROL_BLOCK (64 * 1024)

/* What the handler of a sample needs of a stack at most (bench/handler_stack). */
#define PP_HANDLER_STACK_BYTES 1280

typedef struct pp_registers {
    uintptr_t r[PP_REG_COUNT]; /* r[PP_REG_PC] is the PC */
} pp_registers;

_Static_assert(offsetof(ucontext_t, uc_mcontext.regs) == 184 &&
                   offsetof(ucontext_t, uc_mcontext.sp) == 432 &&
                   offsetof(ucontext_t, uc_mcontext.pc) == 440,
               "registers follow each other by their numbers");

/* The bit of each DWARF register in sample_regs_user of a perf event, and its place among the
 * registers of a sample (the kernel's arch/arm64/include/uapi/asm/perf_regs.h). */
static const uint8_t pp_perf_bit_of_register[PP_REG_COUNT] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

static inline void pp_registers_from_context(pp_registers *registers, const void *context)
{
    const mcontext_t *from = &((const ucontext_t *)context)->uc_mcontext;
    memcpy(registers->r, from->regs, sizeof from->regs);
    registers->r[PP_REG_SP] = from->sp;
    registers->r[PP_REG_PC] = from->pc;
}

/* The address of a return address, which pointer authentication may have signed: XPACLRI, which older
 * processors take for a hint (Arm Architecture Reference Manual). It works on x30. */
static inline uintptr_t pp_return_address(uintptr_t word)
{
    register uintptr_t x30 __asm__("x30") = word;
    __asm__("hint #7" : "+r"(x30));
    return x30;
}

/* No address of a program has this bit, which says that an address is the kernel's, and pp_untagged() leaves it. */
#define PP_NO_ADDRESS_BIT ((uintptr_t)1 << 55)

/* The address that a pointer of the program names: the processor ignores the top byte, or compares a part
 * with the memory's tag (MTE). So this is for comparisons; a load needs the pointer as it is. */
static inline uintptr_t pp_untagged(uintptr_t pointer)
{
    return pointer & ~((uintptr_t)0xff << 56);
}

static inline uintptr_t pp_stack_pointer_from_context(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.sp;
}

static const char pp_register_names[PP_REG_COUNT][4] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
    "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc"};

static inline const char *pp_register_name(unsigned reg)
{
    return reg < PP_REG_COUNT ? pp_register_names[reg] : "?";
}

enum { PP_SHOWN_REGISTERS = 35 };

/* Returns the name of a register, in the order of Go's crashes, and its value at the signal. */
static inline const char *pp_shown_register(unsigned index, const void *context, uint64_t *value)
{
    static const char others[][8] = {"r29", "lr", "sp", "pc", "fault", "pstate"};
    static const char numbered[PP_REG_FP][4] = {
        "r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",  "r7",  "r8",  "r9",
        "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19",
        "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28"};
    const mcontext_t *from = &((const ucontext_t *)context)->uc_mcontext;
    const uint64_t special[] = {from->sp, from->pc, from->fault_address, from->pstate};
    *value = index < PP_REG_SP ? from->regs[index] : special[index - PP_REG_SP];
    return index < PP_REG_FP ? numbered[index] : others[index - PP_REG_FP];
}

/* Returns where a signal frame holds a register. SP points to the kernel's siginfo_t once the handler
 * has returned to the restorer (struct rt_sigframe of arch/arm64/kernel/signal.c). The state of vector
 * registers comes after, however large it is. */
static inline uintptr_t pp_signal_frame_slot(uintptr_t sp, int reg)
{
    return sp + sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs) +
           sizeof(uint64_t) * (uintptr_t)reg;
}

/* The restorer that the kernel's vDSO has: mov x8, #139; svc #0. */
static const uint8_t pp_signal_restorer[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

/* The length of its last instruction. */
#define PP_SIGNAL_RESTORER_LAST 4

/* musl's child of clone(), once the thread's function has returned: mov x8, #93; svc #0. */
static const uint8_t pp_thread_exit[] = {0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

#define PP_CALL_BYTES 4

static inline uint32_t pp_instruction(const uint8_t *code)
{
    uint32_t instruction = 0;
    memcpy(&instruction, code, sizeof instruction);
    return instruction;
}

/* Whether the instruction before a possible return address is a call: BL, or BLR and its forms with
 * pointer authentication (Arm Architecture Reference Manual, C4.1). */
static inline bool pp_ends_with_call(const uint8_t code[PP_CALL_BYTES])
{
    uint32_t i = pp_instruction(code);
    return i >> 26 == 0x25 || (i & 0xfffffc1f) == 0xd63f0000 || (i & 0xfefff800) == 0xd63f0800;
}

#endif
