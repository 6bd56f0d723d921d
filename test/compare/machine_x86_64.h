/* SPDX-License-Identifier: MIT
 *
 * machine_x86_64.h: what the stepper has to know of x86-64.
 *
 * Only calls need their length: what they push is known without reading it from the stack.
 * Encodings: Intel SDM, volume 2, CALL, JMP, RET, SYSCALL.
 *
 * Zone: tests.
 */
#ifndef PP_COMPARE_MACHINE_X86_64_H
#define PP_COMPARE_MACHINE_X86_64_H

#include <string.h>

enum {
    MACHINE_CODE_MAX = 15,
    MACHINE_CALL_PUSHES = 8, /* the return address */
    MACHINE_RESUMES_AT_BREAKPOINT = 1
};

/* ---- registers ---- */

static inline uint64_t machine_pc(const struct user_regs_struct *r)
{
    return r->rip;
}

static inline uint64_t machine_sp(const struct user_regs_struct *r)
{
    return r->rsp;
}

static inline uint64_t machine_call_number(const struct user_regs_struct *r)
{
    return r->rax;
}

/* Where a return instruction goes. */
static inline bool machine_return_address(const struct user_regs_struct *r,
                                          machine_read_word *read_word, uint64_t *address)
{
    return read_word(r->rsp, address);
}

/* Whether the next call of the caller's walk finds this return address. */
static inline bool machine_is_at_entry(const struct user_regs_struct *r, uint64_t slot, uint64_t pc)
{
    (void)pc;
    return slot == r->rsp;
}

static inline void machine_enter(struct user_regs_struct *r, uint64_t entry, uint64_t stack_top)
{
    enum { FLAGS_TO_CLEAR = 0x40500 /* trap, direction, alignment check */ };
    r->rip = entry;
    r->rsp = stack_top;
    r->orig_rax = (unsigned long long)-1; /* no system call to be restarted */
    r->eflags &= ~(unsigned long long)FLAGS_TO_CLEAR;
}

static inline void machine_fill(gregset_t to, const struct user_regs_struct *from)
{
    memset(to, 0, sizeof(gregset_t));
    to[REG_RAX] = (greg_t)from->rax;
    to[REG_RBX] = (greg_t)from->rbx;
    to[REG_RCX] = (greg_t)from->rcx;
    to[REG_RDX] = (greg_t)from->rdx;
    to[REG_RSI] = (greg_t)from->rsi;
    to[REG_RDI] = (greg_t)from->rdi;
    to[REG_RBP] = (greg_t)from->rbp;
    to[REG_RSP] = (greg_t)from->rsp;
    to[REG_R8] = (greg_t)from->r8;
    to[REG_R9] = (greg_t)from->r9;
    to[REG_R10] = (greg_t)from->r10;
    to[REG_R11] = (greg_t)from->r11;
    to[REG_R12] = (greg_t)from->r12;
    to[REG_R13] = (greg_t)from->r13;
    to[REG_R14] = (greg_t)from->r14;
    to[REG_R15] = (greg_t)from->r15;
    to[REG_RIP] = (greg_t)from->rip;
}

/* The registers of a handler that was just entered: where its context lies, and where it returns to. */
static inline bool machine_in_handler(const struct user_regs_struct *r, int signal,
                                      machine_read_word *read_word, uint64_t *context,
                                      uint64_t *restorer)
{
    *context = r->rsp + sizeof(uint64_t);
    return (int)r->rdi == signal && read_word(r->rsp, restorer);
}

static inline uint64_t machine_context_pc(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t machine_context_sp(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

/* Bytes of a ucontext_t that have all of that. */
enum { MACHINE_CONTEXT_BYTES = offsetof(ucontext_t, uc_sigmask) };

/* ---- the agent's ---- */

static inline void machine_context(ucontext_t *to, const gregset_t from)
{
    memcpy(to->uc_mcontext.gregs, from, sizeof(gregset_t));
}

/* SP, frame pointer, and the register that pp_caller_at_entry() wants besides. */
static inline void machine_entry_registers(const gregset_t from, uintptr_t to[3])
{
    to[0] = (uintptr_t)from[REG_RSP];
    to[1] = (uintptr_t)from[REG_RBP];
    to[2] = (uintptr_t)from[REG_RBX];
}

/* The agent's entry calls compare_walk and stops. Vector registers are as before, up to 16 KiB of them:
 * AVX-512 needs 2.7 KiB, AMX 8 KiB more. */
#define MACHINE_VECTOR_STATE "16384"
#define MACHINE_AGENT_ENTRY                                                                        \
    "    mov $-1, %eax\n"                                                                          \
    "    mov $-1, %edx\n"                                                                          \
    "    xsave64 compare_vector_state(%rip)\n"                                                     \
    "    call compare_walk\n"                                                                      \
    "    mov $-1, %eax\n"                                                                          \
    "    mov $-1, %edx\n"                                                                          \
    "    xrstor64 compare_vector_state(%rip)\n"                                                    \
    "    int3\n"

/* ---- instructions ---- */

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

/* `code` has MACHINE_CODE_MAX bytes, filled up with zeros. */
static inline machine_step instruction_decode(const uint8_t code[MACHINE_CODE_MAX])
{
    size_t at = 0;
    while (at < MACHINE_CODE_MAX - 6 && instruction_is_prefix(code[at])) {
        at++;
    }
    switch (code[at]) {
    case 0xe8:
        return (machine_step){INSTRUCTION_CALL, (uint8_t)(at + 5)};
    case 0xc2:
    case 0xc3:
        return (machine_step){INSTRUCTION_RETURN, 0};
    case 0x0f:
        return (machine_step){code[at + 1] == 0x05 ? INSTRUCTION_SYSTEM_CALL : INSTRUCTION_OTHER,
                              0};
    case 0xff:
        break;
    default:
        return (machine_step){INSTRUCTION_OTHER, 0};
    }
    switch (code[at + 1] >> 3 & 7) {
    case 2:
        return (machine_step){INSTRUCTION_CALL,
                              (uint8_t)(at + 1 + instruction_operand_bytes(code + at + 1))};
    case 4:
        return (machine_step){INSTRUCTION_JUMP, 0};
    default:
        return (machine_step){INSTRUCTION_OTHER, 0};
    }
}

#endif
