/* SPDX-License-Identifier: MIT
 *
 * aarch64_tracee.h: the registers of a stopped thread of another process. Calls in its name are not made
 * on aarch64 yet.
 *
 * The kernel makes a call that a stop has interrupted begin again before it shows the registers: the PC
 * is at the call, and x0 is its first argument again (arch/arm64/kernel/signal.c, do_signal). A call
 * that has ended with EINTR has lost its first argument.
 *
 * Zone: NORMAL (cpprof).
 */
#ifndef PP_ARCH_AARCH64_TRACEE_H
#define PP_ARCH_AARCH64_TRACEE_H

#include "arch/registers.h"
#include "arch/system_call.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

enum { PP_TRACEE_CAN_CALL = false };

typedef struct user_regs_struct pp_tracee_general;

/* What is known of a stopped thread. */
typedef struct pp_tracee_registers {
    pp_tracee_general general;
    uint64_t mask;   /* of signals */
    uint64_t shadow; /* not used */
    uintptr_t thread_pointer;
    long call; /* the system call that the stop has interrupted; -1: none */
} pp_tracee_registers;

static inline int pp_tracee_set_shadow(int tid, uint64_t pointer)
{
    (void)tid;
    (void)pointer;
    return 0;
}

static inline bool pp_tracee_get_general(int tid, pp_tracee_general *general)
{
    struct iovec whole = {general, sizeof *general};
    return ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &whole) == 0;
}

static inline bool pp_tracee_set_general(int tid, const pp_tracee_general *general)
{
    struct iovec whole = {(void *)general, sizeof *general};
    return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &whole) == 0;
}

/* Reads all but the mask. */
static inline bool pp_tracee_get(int tid, pp_tracee_registers *r)
{
    const uint32_t svc = 0xd4000001;
    struct iovec pointer = {&r->thread_pointer, sizeof r->thread_pointer};
    if (!pp_tracee_get_general(tid, &r->general) ||
        ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &pointer) != 0) {
        return false;
    }
    long word = ptrace(PTRACE_PEEKTEXT, tid, (void *)(r->general.pc & ~(uintptr_t)7), NULL);
    uint32_t instruction = (uint32_t)((uint64_t)word >> (r->general.pc % 8 * 8));
    r->call = instruction == svc ? (long)r->general.regs[8] : -1;
    return true;
}

static inline void pp_tracee_set_state(int tid, const pp_tracee_registers *r)
{
    (void)tid;
    (void)r;
}

static inline void pp_tracee_walk_registers(const pp_tracee_registers *from, pp_registers *to)
{
    memcpy(to->r, from->general.regs, sizeof from->general.regs);
    to->r[PP_REG_SP] = (uintptr_t)from->general.sp;
    to->r[PP_REG_PC] = (uintptr_t)from->general.pc;
}

static inline uintptr_t pp_tracee_thread_pointer(const pp_tracee_registers *r)
{
    return r->thread_pointer;
}

static inline long pp_tracee_call_number(const pp_tracee_registers *r)
{
    return r->call;
}

static inline bool pp_tracee_is_entry(const pp_tracee_registers *r)
{
    (void)r;
    return false;
}

static inline void pp_tracee_arguments(const pp_tracee_registers *r, uintptr_t to[6])
{
    for (unsigned i = 0; i < 6; i++) {
        to[i] = (uintptr_t)r->general.regs[i];
    }
}

static inline bool pp_tracee_kernel_restarts(const pp_tracee_registers *r)
{
    (void)r;
    return false;
}

static inline bool pp_tracee_is_interrupted(const pp_tracee_registers *r)
{
    return r->call >= 0;
}

static inline bool pp_tracee_ended_early(const pp_tracee_registers *r)
{
    (void)r;
    return false;
}

static inline void pp_tracee_let_restart(pp_tracee_general *general)
{
    (void)general;
}

static inline void pp_tracee_forget_call(pp_tracee_general *general)
{
    (void)general;
}

static inline void pp_tracee_repeat(pp_tracee_general *general)
{
    (void)general;
}

static inline int pp_tracee_epoll_ms(const pp_tracee_registers *r)
{
    return (int)r->general.regs[3];
}

static inline void pp_tracee_set_epoll_ms(pp_tracee_general *general, int ms)
{
    general->regs[3] = (unsigned)ms;
}

static inline bool pp_tracee_build(const pp_tracee_registers *now, const pp_tracee_general *after,
                                   const pp_tracee_call *call, pp_tracee_frame *frame,
                                   pp_tracee_general *entry)
{
    (void)now;
    (void)after;
    (void)call;
    (void)frame;
    (void)entry;
    return false;
}

static inline bool pp_tracee_returns(const pp_tracee_general *general, const pp_tracee_frame *frame)
{
    (void)general;
    (void)frame;
    return false;
}

#endif
