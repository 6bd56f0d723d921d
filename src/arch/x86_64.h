/* SPDX-License-Identifier: MIT
 *
 * x86_64.h: registers of x86-64, by their DWARF numbers (System V ABI, AMD64 supplement, fig.
 * 3.36).
 *
 *   0 rax  1 rdx  2 rcx  3 rbx  4 rsi  5 rdi  6 rbp  7 rsp  8-15 r8-r15  16 return address
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_H
#define PP_ARCH_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

enum {
    PP_REG_BX = 3,
    PP_REG_FP = 6,
    PP_REG_SP = 7,
    PP_REG_RA = 16, /* of CFI */
    PP_REG_PC = 16,
    PP_REG_COUNT = 17
};

/* Registers that a call may destroy (System V ABI): rax rdx rcx rsi rdi r8-r11. */
#define PP_CALL_CLOBBERED 0x0f37u

/* User addresses have 47 bits (4-level paging; the kernel gives larger ones only on request). */
#define PP_ADDRESS_BITS 47

/* Instructions begin at any address. */
#define PP_CODE_SHIFT 0

/* A call pushes the return address. */
#define PP_RETURN_ON_STACK 1
#define PP_FRAME_TOP()     ((uintptr_t)__builtin_frame_address(0))

/* The bytes below SP that a function may use without moving it (System V ABI). */
#define PP_RED_ZONE 128

/* A thread's stack ends less than this above its control block (glibc: sizeof(struct pthread) is 2304
 * bytes; musl's is smaller). */
#define PP_ABOVE_CONTROL_BLOCK 4096

/* What the handler of a sample needs of a stack at most (bench/handler_stack). */
#define PP_HANDLER_STACK_BYTES 1024

typedef struct pp_registers {
    uintptr_t r[PP_REG_COUNT]; /* r[PP_REG_PC] is the PC */
} pp_registers;

/* The index in gregs[] of each DWARF register. */
static const uint8_t pp_greg_of_register[PP_REG_COUNT] = {
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
};

_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs) == 40 && REG_R8 == 0 && REG_R9 == 1 &&
                   REG_R10 == 2 && REG_R11 == 3 && REG_R12 == 4 && REG_R13 == 5 && REG_R14 == 6 &&
                   REG_R15 == 7 && REG_RDI == 8 && REG_RSI == 9 && REG_RBP == 10 && REG_RBX == 11 &&
                   REG_RDX == 12 && REG_RAX == 13 && REG_RCX == 14 && REG_RSP == 15 &&
                   REG_RIP == 16,
               "x86_64_signal_return.S has these offsets");

/* The bit of each DWARF register in sample_regs_user of a perf event, and its place among the
 * registers of a sample (the kernel's arch/x86/include/uapi/asm/perf_regs.h): ax bx cx dx si di bp sp
 * ip flags cs ss ds es fs gs r8 ... r15. */
static const uint8_t pp_perf_bit_of_register[PP_REG_COUNT] = {0,  3,  2,  1,  4,  5,  6,  7, 16,
                                                              17, 18, 19, 20, 21, 22, 23, 8};

static inline void pp_registers_from_context(pp_registers *registers, const void *context)
{
    const ucontext_t *ucontext = context;
    for (int i = 0; i < PP_REG_COUNT; i++) {
        registers->r[i] = (uintptr_t)ucontext->uc_mcontext.gregs[pp_greg_of_register[i]];
    }
}

/* The address that a saved word leads back to. */
static inline uintptr_t pp_return_address(uintptr_t word)
{
    return word;
}

/* No address of a program has this bit, and pp_untagged() leaves it. */
#define PP_NO_ADDRESS_BIT ((uintptr_t)1 << 56)

/* The address that a pointer of the program names. */
static inline uintptr_t pp_untagged(uintptr_t pointer)
{
    return pointer;
}

static inline uintptr_t pp_stack_pointer_from_context(const void *context)
{
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
}

static inline const char *pp_register_name(unsigned reg)
{
    static const char names[PP_REG_COUNT][4] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                                "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                                "r12", "r13", "r14", "r15", "rip"};
    return reg < PP_REG_COUNT ? names[reg] : "?";
}

enum { PP_SHOWN_REGISTERS = 18 };

/* Returns the name of a register, in the order of Go's crashes, and its value at the signal. */
static inline const char *pp_shown_register(unsigned index, const void *context, uint64_t *value)
{
    static const struct {
        const char *name;
        int greg;
    } shown[PP_SHOWN_REGISTERS] = {
        {"rax", REG_RAX}, {"rbx", REG_RBX}, {"rcx", REG_RCX},   {"rdx", REG_RDX}, {"rdi", REG_RDI},
        {"rsi", REG_RSI}, {"rbp", REG_RBP}, {"rsp", REG_RSP},   {"r8", REG_R8},   {"r9", REG_R9},
        {"r10", REG_R10}, {"r11", REG_R11}, {"r12", REG_R12},   {"r13", REG_R13}, {"r14", REG_R14},
        {"r15", REG_R15}, {"rip", REG_RIP}, {"rflags", REG_EFL}};
    *value = (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[shown[index].greg];
    return shown[index].name;
}

/* Returns where a signal frame holds a register. SP points to the kernel's ucontext_t once the
 * handler has returned to the restorer. */
static inline uintptr_t pp_signal_frame_slot(uintptr_t sp, int reg)
{
    return sp + offsetof(ucontext_t, uc_mcontext) + sizeof(greg_t) * pp_greg_of_register[reg];
}

/* The restorer that libc gives to the kernel (__restore_rt): mov $15,%rax; syscall. */
static const uint8_t pp_signal_restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

/* The length of its last instruction. */
#define PP_SIGNAL_RESTORER_LAST 2

/* musl's child of clone(), once the thread's function has returned: mov %eax,%edi; xor %eax,%eax; mov $60,%al; syscall. */
static const uint8_t pp_thread_exit[] = {0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05};

/* The longest call instruction that pp_ends_with_call() recognizes. */
#define PP_CALL_BYTES 7

/* Returns the length of ff /2 with this ModRM byte, and perhaps a SIB byte after it (Intel SDM,
 * volume 2, tables 2-2 and 2-3). */
static inline unsigned pp_indirect_call_length(uint8_t modrm, uint8_t sib)
{
    unsigned mod = modrm >> 6;
    bool has_sib = mod != 3 && (modrm & 7) == 4;
    bool has_no_base = mod == 0 && (has_sib ? (sib & 7) == 5 : (modrm & 7) == 5);
    unsigned displacement = mod == 1 ? 1 : mod == 2 || has_no_base ? 4 : 0;
    return 2 + has_sib + displacement;
}

/* Whether the PP_CALL_BYTES bytes before a possible return address end in a call: e8 rel32, or ff
 * /2 with a register or any addressing mode; prefixes come before (Intel SDM, volume 2, CALL). */
static inline bool pp_ends_with_call(const uint8_t code[PP_CALL_BYTES])
{
    static const uint8_t lengths_of_ff[] = {2, 3, 4, 6, 7};
    if (code[PP_CALL_BYTES - 5] == 0xe8) {
        return true;
    }
    for (unsigned i = 0; i < sizeof lengths_of_ff; i++) {
        unsigned length = lengths_of_ff[i];
        const uint8_t *at = code + PP_CALL_BYTES - length;
        if (at[0] == 0xff && (at[1] & 0x38) == 0x10 &&
            pp_indirect_call_length(at[1], length > 2 ? at[2] : 0) == length) {
            return true;
        }
    }
    return false;
}

#endif
