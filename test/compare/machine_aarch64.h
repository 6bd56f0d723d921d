/* SPDX-License-Identifier: MIT
 *
 * machine_aarch64.h: what the stepper has to know of aarch64.
 *
 * A call pushes nothing: the return address is in x30. So a frame's slot is SP at the call, and a return
 * ends the frame although SP is not above the slot.
 *
 * Encodings: Arm Architecture Reference Manual, C4.1.66 and C6.2.
 *
 * Zone: tests.
 */
#ifndef PP_COMPARE_MACHINE_AARCH64_H
#define PP_COMPARE_MACHINE_AARCH64_H

#include <string.h>

enum {
    MACHINE_CODE_MAX = 4,
    MACHINE_CALL_PUSHES = 0,
    MACHINE_RESUMES_AT_BREAKPOINT = 0 /* an address with a breakpoint has to be stepped over */
};

/* ---- registers ---- */

static inline uint64_t machine_pc(const struct user_regs_struct *r)
{
    return r->pc;
}

static inline uint64_t machine_sp(const struct user_regs_struct *r)
{
    return r->sp;
}

static inline uint64_t machine_call_number(const struct user_regs_struct *r)
{
    return r->regs[8];
}

/* Without the code of pointer authentication. */
static inline uint64_t machine_stripped(uint64_t address)
{
    return address & UINT64_C(0x0000ffffffffffff);
}

/* Where a return instruction goes. */
static inline bool machine_return_address(const struct user_regs_struct *r,
                                          machine_read_word *read_word, uint64_t *address)
{
    enum { LINK = 30, NONE = 31 /* in RETAA and RETAB */ };
    uint64_t code = 0;
    unsigned number = read_word(r->pc, &code) ? code >> 5 & 0x1f : LINK;
    *address = machine_stripped(r->regs[number == NONE ? LINK : number]);
    return true;
}

/* Whether the next call of the caller's walk finds this return address. */
static inline bool machine_is_at_entry(const struct user_regs_struct *r, uint64_t slot, uint64_t pc)
{
    return slot == r->sp && machine_stripped(r->regs[30]) == pc;
}

static inline void machine_enter(struct user_regs_struct *r, uint64_t entry, uint64_t stack_top)
{
    const unsigned long long branch_type = 3 << 10; /* BTI */
    r->pc = entry;
    r->sp = stack_top;
    r->pstate &= ~branch_type;
}

static inline void machine_fill(gregset_t to, const struct user_regs_struct *from)
{
    _Static_assert(sizeof(gregset_t) == sizeof *from, "the same registers in the same order");
    memcpy(to, from, sizeof *from);
}

/* The registers of a handler that was just entered: where its context lies, and where it returns to. */
static inline bool machine_in_handler(const struct user_regs_struct *r, int signal,
                                      machine_read_word *read_word, uint64_t *context,
                                      uint64_t *restorer)
{
    (void)read_word;
    *context = r->sp + sizeof(siginfo_t);
    *restorer = r->regs[30];
    return (int)r->regs[0] == signal;
}

static inline uint64_t machine_context_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static inline uint64_t machine_context_sp(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

/* Bytes of a ucontext_t that have all of that. */
enum { MACHINE_CONTEXT_BYTES = offsetof(ucontext_t, uc_mcontext.pstate) };

/* ---- the agent's ---- */

static inline void machine_context(ucontext_t *to, const gregset_t from)
{
    memcpy(to->uc_mcontext.regs, from, sizeof(gregset_t));
}

/* SP, frame pointer, and the register that pp_caller_at_entry() wants besides. */
static inline void machine_entry_registers(const gregset_t from, uintptr_t to[3])
{
    to[0] = (uintptr_t)from[31];
    to[1] = (uintptr_t)from[29];
    to[2] = (uintptr_t)from[30];
}

/* The agent's entry calls compare_walk and stops. Vector registers are as before, up to 128 bits of each; the
 * tracer keeps what is longer. */
#define MACHINE_VECTOR_STATE "528"
#define MACHINE_AGENT_ENTRY                                                                        \
    "    .macro vectors instruction\n"                                                             \
    "    adrp x9, compare_vector_state\n"                                                          \
    "    add x9, x9, :lo12:compare_vector_state\n"                                                 \
    "    .irp n, "                                                                                 \
    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"      \
    "    \\instruction q\\n, [x9], #16\n"                                                          \
    "    .endr\n"                                                                                  \
    "    .endm\n"                                                                                  \
    "    vectors str\n"                                                                            \
    "    mrs x10, fpsr\n"                                                                          \
    "    str x10, [x9]\n"                                                                          \
    "    bl compare_walk\n"                                                                        \
    "    vectors ldr\n"                                                                            \
    "    ldr x10, [x9]\n"                                                                          \
    "    msr fpsr, x10\n"                                                                          \
    "    brk #0\n"

/* ---- instructions ---- */

static inline machine_step instruction_decode(const uint8_t code[MACHINE_CODE_MAX])
{
    enum { BRANCH = 0, CALL = 1, RETURN = 2, WITH_MODIFIER = 8 };
    uint32_t word = 0;
    memcpy(&word, code, sizeof word);
    if (word >> 26 == 0x25) { /* BL */
        return (machine_step){INSTRUCTION_CALL, sizeof word};
    }
    if ((word & 0xffe0001f) == 0xd4000001) { /* SVC */
        return (machine_step){INSTRUCTION_SYSTEM_CALL, 0};
    }
    if (word >> 25 != 0x6b || (word >> 16 & 0x1f) != 0x1f) {
        return (machine_step){INSTRUCTION_OTHER, 0};
    }
    switch (word >> 21 & 0xf &
            ~(unsigned)WITH_MODIFIER) { /* BR, BLR, RET, and those that authenticate */
    case BRANCH:
        return (machine_step){INSTRUCTION_JUMP, 0};
    case CALL:
        return (machine_step){INSTRUCTION_CALL, sizeof word};
    case RETURN:
        return (machine_step){INSTRUCTION_RETURN, 0};
    default:
        return (machine_step){INSTRUCTION_OTHER, 0};
    }
}

#endif
