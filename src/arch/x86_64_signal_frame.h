/* SPDX-License-Identifier: MIT
 *
 * x86_64_signal_frame.h: computes the stack space of a signal, and moves a signal to another stack.
 *
 * The kernel pushes the registers' state as XSAVE writes it, and below it ucontext_t, siginfo_t and
 * the restorer's address (struct rt_sigframe of arch/x86/include/asm/sigframe.h). The state's size
 * depends on the processor's features and, with AMX, on whether the process has requested it;
 * AT_MINSIGSTKSZ includes all of them. Sizes and offsets of the features: CPUID leaf 0xd (Intel
 * SDM, volume 1, 13.2).
 *
 * Zone: SIGNAL (CPUID and a system call).
 */
#ifndef PP_ARCH_X86_64_SIGNAL_FRAME_H
#define PP_ARCH_X86_64_SIGNAL_FRAME_H

#include "arch/registers.h"
#include "arch/system_call.h"

#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

enum {
    PP_ARCH_GET_XCOMP_PERM = 0x1022, /* of <asm/prctl.h>, Linux 5.16 */
    PP_XSAVE_LEAF = 0xd,
    PP_XSAVE_LEAST = 512 + 64, /* the legacy region and the header */
    PP_XSAVE_FEATURES = 63,
    PP_XSAVE_FIRST_EXTENDED = 2, /* 0 and 1 are in the legacy region */
    PP_KERNEL_CONTEXT = 304, /* the kernel's ucontext_t: its signal set is shorter than libc's */
    /* The size of struct rt_sigframe; 64 to align the state, 4 after it. */
    PP_SIGNAL_FRAME_REST = 8 + PP_KERNEL_CONTEXT + 128 + 64 + 16
};

/* The frame as a handler finds it: the stack pointer is at its beginning. */
typedef struct pp_signal_frame {
    void (*restorer)(void);
    char context[PP_KERNEL_CONTEXT];
    siginfo_t info;
} pp_signal_frame;

_Static_assert(sizeof(pp_signal_frame) == 8 + PP_KERNEL_CONTEXT + 128, "struct rt_sigframe");

/* Returns one bit for each feature whose state the process may use. The process may request more
 * later, and returns none. */
static inline uint64_t pp_signal_features(void)
{
    uint64_t permitted = 0;
    bool asked = pp_system_call(SYS_arch_prctl, PP_ARCH_GET_XCOMP_PERM, &permitted) == 0;
    return asked ? permitted : UINT64_MAX;
}

static inline uint64_t pp_xsave_supported(void)
{
    unsigned low = 0;
    unsigned size = 0;
    unsigned most = 0;
    unsigned high = 0;
    if (__get_cpuid_count(PP_XSAVE_LEAF, 0, &low, &size, &most, &high) == 0) {
        return 0;
    }
    return (uint64_t)high << 32 | low;
}

/* Returns an upper limit of the stack space that the kernel takes for one signal on an alternate
 * stack. Slow: in a virtual machine each CPUID exits to the host. */
static inline size_t pp_signal_frame_bytes(uint64_t permitted)
{
    uint64_t features = pp_xsave_supported() & permitted;
    size_t state = PP_XSAVE_LEAST;
    for (unsigned i = PP_XSAVE_FIRST_EXTENDED; i < PP_XSAVE_FEATURES; i++) {
        unsigned size = 0;
        unsigned offset = 0;
        unsigned flags = 0;
        unsigned unused = 0;
        if ((features >> i & 1) != 0 &&
            __get_cpuid_count(PP_XSAVE_LEAF, i, &size, &offset, &flags, &unused) != 0 &&
            (size_t)size + offset > state) {
            state = (size_t)size + offset;
        }
    }
    return state + PP_SIGNAL_FRAME_REST;
}

/* Returns the size of a frame's registers' state, from the kernel's bytes of the legacy region. */
static inline size_t pp_xsave_bytes(const char *state)
{
    enum { LEGACY = 512, RESERVED = 464 };
    static const uint32_t magic = 0x46505853; /* FP_XSTATE_MAGIC1 of <asm/sigcontext.h> */
    uint32_t words[2];
    memcpy(words, state + RESERVED, sizeof words);
    return words[0] == magic ? words[1] : LEGACY;
}

/* Whether the processor checks return addresses (CET): then no jump may leave a frame. */
static inline bool pp_has_shadow_stack(void)
{
    uintptr_t pointer = 0;
    __asm__ volatile("rdsspq %0" : "+r"(pointer));
    return pointer != 0;
}

/*
 * Continues in `handler` as if the kernel had pushed the signal's frame onto the interrupted stack
 * and not onto the alternate one. Leaves the caller's frames. `handler` returns from the signal as
 * any handler does.
 */
__attribute__((noreturn)) static inline void
pp_signal_move(void (*handler)(int, siginfo_t *, void *), int signal, const siginfo_t *info,
               const void *context)
{
    enum { STATE_ALIGNMENT = 64, STACK_ALIGNMENT = 16 };
    const mcontext_t *registers = &((const ucontext_t *)context)->uc_mcontext;
    const char *from = (const char *)registers->fpregs;
    size_t bytes = from != NULL ? pp_xsave_bytes(from) : 0;
    uintptr_t state = (uintptr_t)registers->gregs[REG_RSP] - PP_RED_ZONE - bytes;
    state &= ~(uintptr_t)(STATE_ALIGNMENT - 1);
    uintptr_t place = (state - sizeof(pp_signal_frame)) & ~(uintptr_t)(STACK_ALIGNMENT - 1);
    pp_signal_frame *frame = (pp_signal_frame *)(place - sizeof(void *)); /* as after a call */
    frame->restorer = pp_signal_return;
    memcpy(frame->context, context, sizeof frame->context);
    frame->info = *info;
    if (from != NULL) {
        memcpy((void *)state, from, bytes);
        memcpy(frame->context + offsetof(ucontext_t, uc_mcontext.fpregs), &state, sizeof state);
    }
    __asm__ volatile("mov %0, %%rsp\n\t"
                     "jmp *%1"
                     :
                     : "r"(frame), "r"(handler), "D"(signal), "S"(&frame->info), "d"(frame->context)
                     : "memory");
    __builtin_unreachable();
}

#endif
