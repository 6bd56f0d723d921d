/* SPDX-License-Identifier: MIT
 *
 * machine.h: a stopped thread's system call and its calls, on the architecture that the tool was built for.
 *
 * Zone: tests.
 */
#ifndef PP_TORTURE_MACHINE_H
#define PP_TORTURE_MACHINE_H

#include "arch/calls.h"
#include "arch/registers.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#if defined(__x86_64__)

#include <sys/user.h>

/* Leaves out the system call at whose entry the thread is. */
static inline void machine_leave_out(pid_t tid)
{
    ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, orig_rax), -1L);
}

static inline void machine_change_first_argument(pid_t tid, uint64_t value)
{
    ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rdi), value);
}

static inline void machine_change_result(pid_t tid, long result)
{
    ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rax), result);
}

/* The return address that is in a register; 0: it is on the stack. */
static inline uintptr_t machine_link(pid_t tid)
{
    (void)tid;
    return 0;
}

static inline uintptr_t machine_stripped(uintptr_t address)
{
    return address;
}

/* The word by which the code before `end` calls, at least PP_CALL_BYTES bytes, or 0. `address`: where that end is. */
static inline uintptr_t machine_word_of_call(const uint8_t *begin, const uint8_t *end,
                                             uintptr_t address)
{
    (void)begin;
    return pp_call_site_at(end - PP_CALL_BYTES, address).pointer;
}

#elif defined(__aarch64__)

#include "arch/tracee.h"

static inline void machine_leave_out(pid_t tid)
{
    pp_tracee_leave_out(tid);
}

/* x0 is the first argument, and the result. */
static inline void machine_change_first_argument(pid_t tid, uint64_t value)
{
    pp_tracee_general general;
    if (pp_tracee_get_general(tid, &general)) {
        general.regs[0] = value;
        pp_tracee_set_general(tid, &general);
    }
}

static inline void machine_change_result(pid_t tid, long result)
{
    machine_change_first_argument(tid, (uint64_t)result);
}

static inline uintptr_t machine_stripped(uintptr_t address)
{
    return pp_return_address(address);
}

static inline uintptr_t machine_link(pid_t tid)
{
    pp_tracee_general general;
    return pp_tracee_get_general(tid, &general) ? machine_stripped(general.regs[PP_REG_RA]) : 0;
}

/* adrp m, page; ldr n, [m, offset]; blr n; other instructions may be between. Registers that were loaded for an earlier
 * call are found as well. (Arm Architecture Reference Manual, C4.1.66.) */
static inline uintptr_t machine_word_of_call(const uint8_t *begin, const uint8_t *end,
                                             uintptr_t address)
{
    enum { INSTRUCTIONS_MAX = 256, REGISTER = 0x1f, PAGE_SHIFT = 12, WORD_SHIFT = 3 };
    uint32_t call = pp_instruction(end - PP_CALL_BYTES);
    if ((call & 0xfffffc1f) != 0xd63f0000) { /* BLR */
        return 0;
    }
    uint32_t wanted = call >> 5 & REGISTER;
    uintptr_t offset = 0;
    bool loaded = false;
    const uint8_t *code = end - PP_CALL_BYTES;
    for (int i = 0; i < INSTRUCTIONS_MAX && code - begin >= PP_CALL_BYTES; i++) {
        code -= PP_CALL_BYTES;
        uint32_t instruction = pp_instruction(code);
        if ((instruction & REGISTER) != wanted) {
            continue;
        }
        if (!loaded && (instruction & 0xffc00000) == 0xf9400000) { /* LDR, 64 bits */
            loaded = true;
            wanted = instruction >> 5 & REGISTER;
            offset = (uintptr_t)(instruction >> 10 & 0xfff) << WORD_SHIFT;
        } else if (loaded && (instruction & 0x9f000000) == 0x90000000) { /* ADRP */
            uintptr_t at = address - (uintptr_t)(end - code);
            int64_t pages =
                pp_signed_field(instruction, 5, 19) * 4 + (int64_t)(instruction >> 29 & 3);
            return (at >> PAGE_SHIFT << PAGE_SHIFT) + ((uintptr_t)pages << PAGE_SHIFT) + offset;
        }
    }
    return 0;
}

#endif

#endif
