/* SPDX-License-Identifier: MIT
 *
 * x86_64_tracee.h: makes a stopped thread of another process call a function, as if the kernel had
 * delivered a signal whose handler the function is.
 *
 *   stack pointer -->  | the thread's own frames
 *                      | red zone
 *                      | text
 *                      | state of XSAVE
 *   at the entry  -->  | restorer, ucontext_t, siginfo_t     (struct rt_sigframe)
 *
 * A shadow stack (CET) gets the same words as before a handler:
 *
 *   its pointer   -->  | the thread's own return addresses
 *                      | the pointer, with bit 63      (what rt_sigreturn sets it to)
 *   at the entry  -->  | restorer
 *
 * The function returns to the restorer, and the kernel gives the thread all its registers and its
 * mask back. Nobody else has to do anything, so whoever stopped the thread may go, or be killed.
 *
 * Sources: arch/x86/kernel/signal_64.c and fpu/signal.c (rt_sigreturn, check_xstate_in_sigframe),
 * shstk.c (setup_signal_shadow_stack), <asm/sigcontext.h>, ptrace(2) PTRACE_GETREGSET.
 *
 * Zone: NORMAL (cpprof).
 */
#ifndef PP_ARCH_X86_64_TRACEE_H
#define PP_ARCH_X86_64_TRACEE_H

#include "arch/registers.h"
#include "arch/signal_frame.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

enum { PP_TRACEE_ENTRY_HIDES_A_REGISTER = false, PP_TRACEE_ENTRY_KEEPS_ARGUMENT = false };

typedef struct user_regs_struct pp_tracee_general;

/* All that a stopped thread has in its processor. */
typedef struct pp_tracee_registers {
    pp_tracee_general general;
    uint64_t mask;      /* of signals */
    uint64_t shadow;    /* the shadow stack's pointer; 0 = none */
    size_t state_bytes; /* of XSAVE; 0 = none */
    _Alignas(64) uint8_t state[PP_TRACEE_STATE_MAX];
} pp_tracee_registers;

/* NT_X86_SHSTK of <elf.h>: the pointer of the shadow stack, where the thread has one. */
enum { PP_SHADOW_POINTER = 0x204 };

static inline uint64_t pp_tracee_shadow(int tid)
{
    uint64_t pointer = 0;
    struct iovec whole = {&pointer, sizeof pointer};
    return ptrace(PTRACE_GETREGSET, tid, PP_SHADOW_POINTER, &whole) == 0 ? pointer : 0;
}

/* 0 or -errno. */
static inline int pp_tracee_set_shadow(int tid, uint64_t pointer)
{
    struct iovec whole = {&pointer, sizeof pointer};
    return pointer == 0 || ptrace(PTRACE_SETREGSET, tid, PP_SHADOW_POINTER, &whole) == 0 ? 0
                                                                                         : -errno;
}

static inline bool pp_tracee_get_general(int tid, pp_tracee_general *general)
{
    return ptrace(PTRACE_GETREGS, tid, NULL, general) == 0;
}

static inline bool pp_tracee_set_general(int tid, const pp_tracee_general *general)
{
    return ptrace(PTRACE_SETREGS, tid, NULL, general) == 0;
}

/* Reads all but the mask. The registers themselves say which call the stop has interrupted. */
static inline bool pp_tracee_get(int tid, pp_tracee_registers *r, const pp_tracee_wait *before)
{
    (void)before;
    struct iovec state = {r->state, sizeof r->state};
    struct iovec legacy = {r->state, 512};
    r->state_bytes = 0;
    r->shadow = pp_tracee_shadow(tid);
    if (!pp_tracee_get_general(tid, &r->general)) {
        return false;
    }
    if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &state) == 0) {
        r->state_bytes = state.iov_len;
    } else if (ptrace(PTRACE_GETREGSET, tid, NT_PRFPREG, &legacy) == 0) {
        r->state_bytes = legacy.iov_len;
    }
    return r->state_bytes > 0;
}

/* Sets what is neither general nor the mask. */
static inline void pp_tracee_set_state(int tid, const pp_tracee_registers *r)
{
    struct iovec state = {(void *)r->state, r->state_bytes};
    ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &state);
}

static inline void pp_tracee_walk_registers(const pp_tracee_registers *from, pp_registers *to)
{
    const pp_tracee_general *g = &from->general;
    *to = (pp_registers){{g->rax, g->rdx, g->rcx, g->rbx, g->rsi, g->rdi, g->rbp, g->rsp, g->r8,
                          g->r9, g->r10, g->r11, g->r12, g->r13, g->r14, g->r15, g->rip}};
}

/* The address of the thread control block. */
static inline uintptr_t pp_tracee_thread_pointer(const pp_tracee_registers *r)
{
    return (uintptr_t)r->general.fs_base;
}

/* The system call that the stop has interrupted; -1: none. */
static inline long pp_tracee_call_number(const pp_tracee_registers *r)
{
    return (long)r->general.orig_rax;
}

/* Whether the stop, one of PTRACE_SYSCALL, is before the call and not after it. */
static inline bool pp_tracee_is_entry(const pp_tracee_registers *r)
{
    return (long)r->general.rax == -ENOSYS;
}

/* The arguments of that call. */
static inline void pp_tracee_arguments(const pp_tracee_registers *r, uintptr_t to[6])
{
    const pp_tracee_general *g = &r->general;
    const unsigned long long from[] = {g->rdi, g->rsi, g->rdx, g->r10, g->r8, g->r9};
    for (unsigned i = 0; i < 6; i++) {
        to[i] = (uintptr_t)from[i];
    }
}

/* Whether the interrupted call has not done its work. */
static inline bool pp_tracee_is_interrupted(const pp_tracee_registers *r)
{
    long result = (long)r->general.rax;
    return pp_tracee_call_number(r) >= 0 &&
           (result == -EINTR || result == -PP_ERESTARTSYS || result == -PP_ERESTARTNOINTR ||
            result == -PP_ERESTARTNOHAND || result == -PP_ERESTART_RESTARTBLOCK);
}

/* Whether the kernel can go on with the interrupted call. */
static inline bool pp_tracee_goes_on(const pp_tracee_registers *r)
{
    return pp_tracee_is_interrupted(r);
}

/* Whether the call has ended because of the stop. */
static inline bool pp_tracee_ended_early(const pp_tracee_registers *r)
{
    return (long)r->general.rax == -EINTR;
}

/* Leaves it to the kernel to begin the call again, unless a handler runs first. */
static inline void pp_tracee_let_restart(const pp_tracee_registers *r, pp_tracee_general *general)
{
    (void)r;
    general->rax = (unsigned long long)-PP_ERESTARTNOHAND;
}

/* The kernel has forgotten how much time such a call has left (restart_syscall(2)): it begins anew. */
static inline void pp_tracee_forget_time(pp_tracee_registers *r, pp_tracee_general *continued)
{
    if ((long)continued->rax == -PP_ERESTART_RESTARTBLOCK) {
        pp_tracee_let_restart(r, continued);
    }
}

/* Makes the thread go on as if it had interrupted no call. */
static inline void pp_tracee_forget_call(pp_tracee_general *general)
{
    general->orig_rax = (unsigned long long)-1;
}

/* Makes the thread begin its interrupted call again, with the same arguments. */
static inline void pp_tracee_repeat(pp_tracee_general *general)
{
    enum { SYSCALL_BYTES = 2 };
    general->rip -= SYSCALL_BYTES;
    general->rax = general->orig_rax;
    general->orig_rax = (unsigned long long)-1;
}

/* Leaves out the call at whose entry the thread is, and has the thread make it once more. */
static inline void pp_tracee_postpone(int tid)
{
    pp_tracee_general general;
    if (pp_tracee_get_general(tid, &general)) {
        pp_tracee_repeat(&general);
        pp_tracee_set_general(tid, &general);
    }
}

static inline void pp_tracee_set_argument(int tid, const pp_tracee_general *continued)
{
    (void)tid;
    (void)continued;
}

/* Gives the thread, stopped where the kernel looks at interrupted calls, its registers. */
static inline void pp_tracee_continue(int tid, const pp_tracee_registers *r,
                                      const pp_tracee_general *continued)
{
    (void)r;
    pp_tracee_set_general(tid, continued);
}

/* Puts a time in milliseconds into the argument of epoll_wait and epoll_pwait that has it. */
static inline int pp_tracee_epoll_ms(const pp_tracee_registers *r)
{
    return (int)r->general.r10;
}

static inline void pp_tracee_set_epoll_ms(pp_tracee_general *general, int ms)
{
    general->r10 = (unsigned)ms;
}

/* The end of the feature in the standard format of XSAVE. */
static inline size_t pp_xsave_feature_end(unsigned feature)
{
    unsigned size = 0;
    unsigned offset = 0;
    unsigned flags = 0;
    unsigned unused = 0;
    __get_cpuid_count(PP_XSAVE_LEAF, feature, &size, &offset, &flags, &unused);
    return (size_t)offset + size;
}

/*
 * The features of the state, and its size. ptrace shows the state with room for all features of the
 * machine; a thread that does not use the tiles of AMX may not return with room for them.
 */
static inline uint64_t pp_tracee_features(const pp_tracee_registers *r, size_t *bytes)
{
    enum { FEATURES = 464, IN_USE = 512, TILES = 18 };
    uint64_t features = 0;
    uint64_t in_use = 0;
    memcpy(&features, r->state + FEATURES, sizeof features);
    memcpy(&in_use, r->state + IN_USE, sizeof in_use);
    if ((in_use >> TILES & 1) == 0) {
        features &= ~(UINT64_C(1) << TILES);
    }
    *bytes = PP_XSAVE_LEAST;
    for (unsigned i = PP_XSAVE_FIRST_EXTENDED; i < PP_XSAVE_FEATURES; i++) {
        size_t end = (features >> i & 1) != 0 ? pp_xsave_feature_end(i) : 0;
        *bytes = end > *bytes ? end : *bytes;
    }
    return features;
}

/* Stores the state as a signal frame has it; returns its bytes. */
static inline size_t pp_tracee_store_state(const pp_tracee_registers *r, uint8_t *to)
{
    enum { LEGACY = 512, RESERVED = 464, MAGIC1 = 0x46505853, MAGIC2 = 0x46505845 };
    struct {
        uint32_t magic1, extended_size;
        uint64_t features;
        uint32_t state_size, padding[7];
    } said = {0};
    const uint32_t magic2 = MAGIC2;
    size_t bytes = 0;
    if (r->state_bytes <= LEGACY) {
        memcpy(to, r->state, r->state_bytes);
        memset(to + RESERVED, 0, LEGACY - RESERVED);
        return r->state_bytes;
    }
    said.features = pp_tracee_features(r, &bytes);
    bytes = bytes < r->state_bytes ? bytes : r->state_bytes;
    said.magic1 = MAGIC1;
    said.state_size = (uint32_t)bytes;
    said.extended_size = (uint32_t)(bytes + sizeof magic2);
    memcpy(to, r->state, bytes);
    memcpy(to + RESERVED, &said, sizeof said);
    memcpy(to + bytes, &magic2, sizeof magic2);
    return bytes + sizeof magic2;
}

/* The kernel's struct ucontext, which ends with the mask. */
static inline void pp_tracee_store_context(const pp_tracee_registers *r, uintptr_t state,
                                           char to[PP_KERNEL_CONTEXT])
{
    enum { XSTATE = 1, SS_SAVED = 2, SS_STRICT = 4, NO_SUCH_FLAG = 0x5a, CS = 0x33, SS = 0x2b };
    const pp_tracee_general *g = &r->general;
    ucontext_t context = {.uc_flags = XSTATE | SS_SAVED | SS_STRICT};
    greg_t *to_greg = context.uc_mcontext.gregs;
    pp_registers registers;
    context.uc_stack.ss_flags = NO_SUCH_FLAG; /* sigaltstack refuses it, so the stack stays */
    pp_tracee_walk_registers(r, &registers);
    for (int i = 0; i < PP_REG_COUNT; i++) {
        to_greg[pp_greg_of_register[i]] = (greg_t)registers.r[i];
    }
    to_greg[REG_EFL] = (greg_t)g->eflags;
    to_greg[REG_CSGSFS] = (greg_t)((uint64_t)SS << 48 | CS);
    context.uc_mcontext.fpregs = (fpregset_t)state;
    memcpy(to, &context, PP_KERNEL_CONTEXT);
    memcpy(to + offsetof(ucontext_t, uc_sigmask), &r->mask, sizeof r->mask);
}

static inline void pp_tracee_push_shadow(const pp_tracee_registers *r, uintptr_t restorer,
                                         pp_tracee_frame *frame)
{
    const uint64_t is_data = UINT64_C(1) << 63; /* so that nothing can return to it */
    frame->shadow_at = r->shadow != 0 ? r->shadow - sizeof frame->shadow : 0;
    frame->shadow[0] = restorer;
    frame->shadow[1] = r->shadow | is_data;
}

/*
 * Builds the frame, and the registers with which the thread enters the function. The thread goes on
 * with `after` when the function has returned. Returns false if the text is too long.
 */
static inline bool pp_tracee_build(const pp_tracee_registers *now, const pp_tracee_general *after,
                                   const pp_tracee_call *call, pp_tracee_frame *frame,
                                   pp_tracee_general *entry)
{
    enum { STATE_ALIGNMENT = 64, STACK_ALIGNMENT = 16, DIRECTION_AND_TRAP = 0x500 };
    static pp_tracee_registers resumed; /* large */
    pp_signal_frame signal = {.restorer = NULL};
    size_t text_bytes = strlen(call->text) + 1;
    if (text_bytes > PP_CALL_TEXT_MAX || now->state_bytes > PP_TRACEE_STATE_MAX) {
        return false;
    }
    uintptr_t top = (now->general.rsp - PP_RED_ZONE) & ~(uintptr_t)(STACK_ALIGNMENT - 1);
    uintptr_t text = (top - text_bytes) & ~(uintptr_t)(STACK_ALIGNMENT - 1);
    uintptr_t state = (text - now->state_bytes - 8) & ~(uintptr_t)(STATE_ALIGNMENT - 1);
    uintptr_t place = (state - sizeof signal) & ~(uintptr_t)(STACK_ALIGNMENT - 1);
    frame->at = place - sizeof(void *); /* as after a call */
    frame->bytes = top - frame->at;
    memset(frame->data, 0, frame->bytes);
    resumed = *now;
    resumed.general = *after;
    memcpy(&signal.restorer, &call->restorer, sizeof call->restorer);
    pp_tracee_store_context(&resumed, now->state_bytes > 0 ? state : 0, signal.context);
    memcpy(frame->data, &signal, sizeof signal);
    pp_tracee_store_state(now, frame->data + (state - frame->at));
    pp_tracee_push_shadow(now, call->restorer, frame);
    memcpy(frame->data + (text - frame->at), call->text, text_bytes);
    *entry = now->general;
    entry->rip = call->function;
    entry->rsp = frame->at;
    entry->rdi = text;
    entry->rsi = (unsigned long long)call->number;
    entry->rax = 0;
    entry->orig_rax = (unsigned long long)-1;
    entry->eflags &= ~(unsigned long long)DIRECTION_AND_TRAP;
    return true;
}

static inline void pp_tracee_set_before_call(pp_tracee_registers *r, const pp_tracee_general *entry)
{
    (void)r;
    (void)entry;
}

/* Whether the thread, stopped at the entry of a system call, is about to return from `frame`. */
static inline bool pp_tracee_returns(const pp_tracee_general *general, const pp_tracee_frame *frame)
{
    enum { RT_SIGRETURN = 15 };
    return general->orig_rax == RT_SIGRETURN && general->rsp == frame->at + sizeof(void *);
}

#endif
