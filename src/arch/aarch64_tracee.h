/* SPDX-License-Identifier: MIT
 *
 * aarch64_tracee.h: makes a stopped thread of another process call a function, as if the kernel had
 * delivered a signal whose handler the function is.
 *
 *   stack pointer -->  | the thread's own frames
 *                      | text
 *                      | frame record: the thread's x29 and PC
 *   at the entry  -->  | siginfo_t, ucontext_t with records     (struct rt_sigframe)
 *
 * The function returns to the restorer, and the kernel gives the thread all its registers and its
 * mask back. Nobody else has to do anything, so whoever stopped the thread may go, or be killed.
 *
 * A call that the stop has interrupted. The kernel sets the thread back to the instruction of the
 * call before a tracer sees it (do_signal of arch/arm64/kernel/signal.c), and remembers what the call
 * has returned only for that once. If it has ended with EINTR, its first argument is lost:
 * pp_tracee_note_wait() keeps what /proc showed before. What it has returned else is known by the
 * call, so the thread is put once more where the kernel looks at that (pp_tracee_continue()).
 *
 * Sources: arch/arm64/kernel/signal.c (rt_sigreturn, parse_user_sigframe) and ptrace.c,
 * <asm/sigcontext.h>, <asm/ptrace.h>, ptrace(2) PTRACE_GETREGSET.
 *
 * Zone: NORMAL (cpprof).
 */
#ifndef PP_ARCH_AARCH64_TRACEE_H
#define PP_ARCH_AARCH64_TRACEE_H

#include "arch/registers.h"
#include "arch/signal_frame.h"
#include "arch/system_call.h"

#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

/* x7 says whether a stop of PTRACE_SYSCALL is before or after the call. */
enum { PP_TRACEE_ENTRY_HIDES_A_REGISTER = true };

/* A call that begins again has the x0 with which the thread has entered the kernel. */
enum { PP_TRACEE_ENTRY_KEEPS_ARGUMENT = true };

enum {
    PP_SVC_BYTES = 4,
    PP_SVE_SET = 0x405,           /* NT_ARM_SVE of <elf.h> */
    PP_SYSTEM_CALL_SET = 0x404,   /* NT_ARM_SYSTEM_CALL */
    PP_THREAD_POINTER_SET = 0x401 /* NT_ARM_TLS */
};

typedef struct user_regs_struct pp_tracee_general;

/* All that a stopped thread has in its processor. */
typedef struct pp_tracee_registers {
    pp_tracee_general general;
    uint64_t mask;      /* of signals */
    uint64_t shadow;    /* not used */
    int state_set;      /* of ptrace, that the state is from */
    size_t state_bytes; /* of vector registers */
    uintptr_t thread_pointer;
    long call;                /* that the stop has interrupted; -1: none */
    long result;              /* of that call: -PP_ERESTART...; 0: it is none that may have ended */
    bool cut_short;           /* it has ended with EINTR */
    uintptr_t first_argument; /* of that call */
    _Alignas(16) uint8_t state[PP_TRACEE_STATE_MAX];
} pp_tracee_registers;

/* The bytes of the set; -1: the thread has none. */
static inline long pp_tracee_get_set(int tid, int set, void *to, size_t bytes)
{
    struct iovec whole = {to, bytes};
    return ptrace(PTRACE_GETREGSET, tid, set, &whole) == 0 ? (long)whole.iov_len : -1;
}

static inline bool pp_tracee_set_set(int tid, int set, const void *from, size_t bytes)
{
    struct iovec whole = {(void *)from, bytes};
    return ptrace(PTRACE_SETREGSET, tid, set, &whole) == 0;
}

static inline int pp_tracee_set_shadow(int tid, uint64_t pointer)
{
    (void)tid;
    (void)pointer;
    return 0;
}

static inline bool pp_tracee_get_general(int tid, pp_tracee_general *general)
{
    return pp_tracee_get_set(tid, NT_PRSTATUS, general, sizeof *general) > 0;
}

static inline bool pp_tracee_set_general(int tid, const pp_tracee_general *general)
{
    return pp_tracee_set_set(tid, NT_PRSTATUS, general, sizeof *general);
}

/*
 * What the kernel has a call return that a signal interrupts: whether it begins again after a handler, and how. Sources:
 * hrtimer_nanosleep of kernel/time/hrtimer.c, futex_wait of kernel/futex, poll_select_finish of fs/select.c, ipc/msg.c,
 * sigsuspend of kernel/signal.c, signal(7).
 */
static inline long pp_tracee_result_of(long call, const pp_tracee_general *g)
{
    enum { ABSOLUTE = 1 /* TIMER_ABSTIME */ };
    int futex = (int)g->regs[1] & FUTEX_CMD_MASK;
    switch (call) {
    case SYS_restart_syscall:
    case SYS_nanosleep:
        return -PP_ERESTART_RESTARTBLOCK;
    case SYS_clock_nanosleep:
        return (g->regs[1] & ABSOLUTE) != 0 ? -PP_ERESTARTNOHAND : -PP_ERESTART_RESTARTBLOCK;
    case SYS_futex:
        if (futex != FUTEX_WAIT && futex != FUTEX_WAIT_BITSET) {
            return -PP_ERESTARTNOINTR;
        }
        return g->regs[3] == 0 ? -PP_ERESTARTSYS : -PP_ERESTART_RESTARTBLOCK;
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_rt_sigsuspend:
    case SYS_msgrcv:
    case SYS_msgsnd:
        return -PP_ERESTARTNOHAND;
    default:
        return -PP_ERESTARTSYS;
    }
}

/* The call is the one in which the thread waited before, if the thread is where that one ends or
 * begins. */
static inline void pp_tracee_note_wait(pp_tracee_registers *r, const pp_tracee_wait *before)
{
    const pp_tracee_general *g = &r->general;
    bool is_there = before->call >= 0 && g->sp == before->sp;
    bool set_back = is_there && g->pc == before->pc - PP_SVC_BYTES;
    r->cut_short = is_there && g->pc == before->pc && (long)g->regs[0] == -EINTR;
    r->call = set_back || r->cut_short ? before->call : -1;
    r->first_argument = r->cut_short ? before->first_argument : (uintptr_t)g->regs[0];
    r->result = r->cut_short ? -PP_ERESTARTNOHAND : pp_tracee_result_of(r->call, g);
}

/* Reads all but the mask, and notes the interrupted call. */
static inline bool pp_tracee_get(int tid, pp_tracee_registers *r, const pp_tracee_wait *before)
{
    r->state_set = PP_SVE_SET;
    long bytes = pp_tracee_get_set(tid, PP_SVE_SET, r->state, sizeof r->state);
    if (bytes < 0) {
        r->state_set = NT_PRFPREG;
        bytes = pp_tracee_get_set(tid, NT_PRFPREG, r->state, sizeof r->state);
    }
    if (bytes <= 0 || !pp_tracee_get_general(tid, &r->general) ||
        pp_tracee_get_set(tid, PP_THREAD_POINTER_SET, &r->thread_pointer,
                          sizeof r->thread_pointer) < 0) {
        return false;
    }
    r->state_bytes = (size_t)bytes;
    pp_tracee_note_wait(r, before);
    return true;
}

/* Sets what is neither general nor the mask. */
static inline void pp_tracee_set_state(int tid, const pp_tracee_registers *r)
{
    pp_tracee_set_set(tid, r->state_set, r->state, r->state_bytes);
}

/* Leaves out the call at whose entry the thread is. */
static inline bool pp_tracee_leave_out(int tid)
{
    const int none = -1;
    return pp_tracee_set_set(tid, PP_SYSTEM_CALL_SET, &none, sizeof none);
}

static inline void pp_tracee_walk_registers(const pp_tracee_registers *from, pp_registers *to)
{
    const pp_tracee_general *g = &from->general;
    for (unsigned i = 0; i < PP_REG_SP; i++) {
        to->r[i] = (uintptr_t)g->regs[i];
    }
    to->r[PP_REG_SP] = (uintptr_t)g->sp;
    to->r[PP_REG_PC] = (uintptr_t)g->pc;
}

/* What tpidr_el0 holds. */
static inline uintptr_t pp_tracee_thread_pointer(const pp_tracee_registers *r)
{
    return (uintptr_t)r->thread_pointer;
}

/* The system call that the stop has interrupted; -1: none. */
static inline long pp_tracee_call_number(const pp_tracee_registers *r)
{
    return r->call;
}

/* Whether the stop, one of PTRACE_SYSCALL, is before the call and not after it. */
static inline bool pp_tracee_is_entry(const pp_tracee_registers *r)
{
    return r->general.regs[7] == 0;
}

/* The arguments of that call. */
static inline void pp_tracee_arguments(const pp_tracee_registers *r, uintptr_t to[6])
{
    to[0] = r->first_argument;
    for (unsigned i = 1; i < 6; i++) {
        to[i] = (uintptr_t)r->general.regs[i];
    }
}

/* Whether the interrupted call has not done its work. */
static inline bool pp_tracee_is_interrupted(const pp_tracee_registers *r)
{
    return r->call >= 0;
}

/* Whether the kernel can go on with the interrupted call. */
static inline bool pp_tracee_goes_on(const pp_tracee_registers *r)
{
    return r->call >= 0 && r->result != 0;
}

/* The kernel has forgotten how much time such a call has left: it begins anew. */
static inline void pp_tracee_forget_time(pp_tracee_registers *r, pp_tracee_general *continued)
{
    (void)continued;
    if (r->result == -PP_ERESTART_RESTARTBLOCK) {
        r->result = -PP_ERESTARTNOHAND;
    }
}

/* Leaves out the call at whose entry the thread is, and has the thread make it once more. */
static inline void pp_tracee_postpone(int tid)
{
    pp_tracee_general general;
    if (pp_tracee_get_general(tid, &general)) {
        general.pc -= PP_SVC_BYTES;
        pp_tracee_set_general(tid, &general);
        pp_tracee_leave_out(tid);
    }
}

/* Gives the thread, which is to make a call, the registers that it cannot be given in that. */
static inline void pp_tracee_set_argument(int tid, const pp_tracee_general *continued)
{
    pp_tracee_general general;
    if (pp_tracee_get_general(tid, &general)) {
        general.regs[0] = continued->regs[0];
        general.regs[7] = continued->regs[7];
        pp_tracee_set_general(tid, &general);
    }
}

/* The thread is at the exit of a call that was left out, with the first argument of the interrupted one. It gets its
 * registers, and the kernel goes on as after the interrupted one. The number first: alone it does nothing. */
static inline void pp_tracee_continue(int tid, const pp_tracee_registers *r,
                                      const pp_tracee_general *continued)
{
    const int number = (int)r->call;
    pp_tracee_general general = *continued;
    general.regs[0] = (unsigned long long)r->result;
    general.pc += PP_SVC_BYTES;
    pp_tracee_set_set(tid, PP_SYSTEM_CALL_SET, &number, sizeof number);
    pp_tracee_set_general(tid, &general);
}

/* Whether the interrupted call has ended with EINTR, as some do after any stop. */
static inline bool pp_tracee_ended_early(const pp_tracee_registers *r)
{
    return r->cut_short;
}

/* Sets the thread back to the instruction of the call. */
static inline void pp_tracee_let_restart(const pp_tracee_registers *r, pp_tracee_general *general)
{
    general->regs[0] = r->first_argument;
    general->pc -= PP_SVC_BYTES;
}

/* The registers are those before the call already. */
static inline void pp_tracee_forget_call(pp_tracee_general *general)
{
    (void)general;
}

static inline void pp_tracee_repeat(pp_tracee_general *general)
{
    (void)general;
}

/* The registers of a thread whose call has been postponed: they are those before the call. */
static inline void pp_tracee_set_before_call(pp_tracee_registers *r, const pp_tracee_general *entry)
{
    r->general.regs[0] = entry->regs[0];
    r->general.pc = entry->pc - PP_SVC_BYTES;
    r->call = (long)entry->regs[8];
    r->cut_short = false;
    r->result = 0;
    r->first_argument = (uintptr_t)entry->regs[0];
}

/* Puts a time in milliseconds into the argument of epoll_pwait that has it. */
static inline int pp_tracee_epoll_ms(const pp_tracee_registers *r)
{
    return (int)r->general.regs[3];
}

static inline void pp_tracee_set_epoll_ms(pp_tracee_general *general, int ms)
{
    general->regs[3] = (unsigned)ms;
}

/* The record of the vector registers that every frame has. */
static inline void pp_tracee_store_fpsimd(const struct user_fpsimd_struct *from, uint8_t *to)
{
    struct fpsimd_context record = {.head = {FPSIMD_MAGIC, sizeof record}};
    record.fpsr = from->fpsr;
    record.fpcr = from->fpcr;
    memcpy(record.vregs, from->vregs, sizeof record.vregs);
    memcpy(to, &record, sizeof record);
}

/* What ptrace shows of SVE: struct user_sve_header of <asm/ptrace.h>, which <sys/ptrace.h> does not
 * bear, then Z, P and FFR as in a signal frame, then FPSR and FPCR. */
typedef struct pp_sve_header {
    uint32_t size, max_size;
    uint16_t vl, max_vl, flags, reserved;
} pp_sve_header;

/* The records of a thread that uses SVE: the low halves, and all of it. Returns false if there is no
 * room. */
static inline bool pp_tracee_store_sve(const pp_sve_header *from, uint8_t *to, size_t room)
{
    const unsigned vq = sve_vq_from_vl(from->vl);
    const uint8_t *z = (const uint8_t *)(from + 1);
    const size_t registers = SVE_SIG_REGS_SIZE(vq);
    const size_t bytes = (SVE_SIG_CONTEXT_SIZE(vq) + 15) & ~(size_t)15;
    struct sve_context record = {.head = {SVE_MAGIC, (uint32_t)bytes}, .vl = from->vl};
    struct user_fpsimd_struct low;
    if (sizeof(struct fpsimd_context) + bytes + sizeof(struct _aarch64_ctx) > room) {
        return false;
    }
    for (unsigned i = 0; i < 32; i++) {
        memcpy(&low.vregs[i], z + (size_t)i * from->vl, sizeof low.vregs[i]);
    }
    memcpy(&low.fpsr, z + ((registers + 15) & ~(size_t)15), sizeof low.fpsr + sizeof low.fpcr);
    pp_tracee_store_fpsimd(&low, to);
    to += sizeof(struct fpsimd_context);
    memcpy(to, &record, sizeof record);
    memcpy(to + SVE_SIG_REGS_OFFSET, z, registers);
    return true;
}

/* Stores the state as the records of a signal frame; false if there is no room. */
static inline bool pp_tracee_store_state(const pp_tracee_registers *r, uint8_t *to, size_t room)
{
    enum { IN_USE = 1 /* SVE_PT_REGS_SVE; else the header is followed by what NT_PRFPREG has */ };
    const pp_sve_header *sve = (const pp_sve_header *)r->state;
    const bool has_header = r->state_set == PP_SVE_SET;
    if (has_header && (sve->flags & IN_USE) != 0) {
        return pp_tracee_store_sve(sve, to, room);
    }
    const uint8_t *at = r->state + (has_header ? sizeof *sve : 0);
    pp_tracee_store_fpsimd((const struct user_fpsimd_struct *)at, to);
    return true;
}

/* The kernel's struct ucontext without its records. */
static inline void pp_tracee_store_context(const pp_tracee_registers *r,
                                           const pp_tracee_general *after, ucontext_t *to)
{
    enum { NO_SUCH_FLAG = 0x5a };
    to->uc_stack.ss_flags = NO_SUCH_FLAG; /* sigaltstack refuses it, so the stack stays */
    memcpy(&to->uc_sigmask, &r->mask, sizeof r->mask);
    memcpy(to->uc_mcontext.regs, after->regs, sizeof after->regs);
    to->uc_mcontext.sp = after->sp;
    to->uc_mcontext.pc = after->pc;
    to->uc_mcontext.pstate = after->pstate;
}

/*
 * Builds the frame, and the registers with which the thread enters the function. The thread goes on
 * with `after` when the function has returned. Returns false if the text or the state is too long.
 */
static inline bool pp_tracee_build(const pp_tracee_registers *now, const pp_tracee_general *after,
                                   const pp_tracee_call *call, pp_tracee_frame *frame,
                                   pp_tracee_general *entry)
{
    enum { STACK_ALIGNMENT = 16, BRANCH_TYPE = 3 << 10 };
    static pp_signal_frame signal; /* large */
    size_t text_bytes = strlen(call->text) + 1;
    if (text_bytes > PP_CALL_TEXT_MAX) {
        return false;
    }
    memset(&signal, 0, sizeof signal);
    uintptr_t top = (uintptr_t)now->general.sp & ~(uintptr_t)(STACK_ALIGNMENT - 1);
    uintptr_t text = (top - text_bytes) & ~(uintptr_t)(STACK_ALIGNMENT - 1);
    uintptr_t record = text - STACK_ALIGNMENT;
    const uint64_t interrupted[2] = {now->general.regs[PP_REG_FP], now->general.pc};
    frame->at = (record - sizeof signal) & ~(uintptr_t)(STACK_ALIGNMENT - 1);
    frame->bytes = top - frame->at;
    memset(frame->data, 0, frame->bytes);
    pp_tracee_store_context(now, after, &signal.context);
    if (!pp_tracee_store_state(now, (uint8_t *)signal.context.uc_mcontext.__reserved,
                               sizeof signal.context.uc_mcontext.__reserved)) {
        return false;
    }
    memcpy(frame->data, &signal, sizeof signal);
    memcpy(frame->data + (record - frame->at), interrupted, sizeof interrupted);
    memcpy(frame->data + (text - frame->at), call->text, text_bytes);
    frame->shadow_at = 0;
    *entry = now->general;
    entry->pc = call->function;
    entry->sp = frame->at;
    entry->regs[0] = text;
    entry->regs[1] = (unsigned long long)call->number;
    entry->regs[PP_REG_FP] = record;
    entry->regs[PP_REG_RA] = call->restorer;
    entry->pstate &= ~(unsigned long long)BRANCH_TYPE; /* BTI: the entry is no branch */
    return true;
}

/* Whether the thread, stopped at the entry of a system call, is about to return from `frame`. */
static inline bool pp_tracee_returns(const pp_tracee_general *general, const pp_tracee_frame *frame)
{
    return general->regs[8] == SYS_rt_sigreturn && general->sp == frame->at;
}

#endif
