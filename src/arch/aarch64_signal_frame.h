/* SPDX-License-Identifier: MIT
 *
 * aarch64_signal_frame.h: computes the stack space of a signal, and moves a signal to another stack.
 *
 * The kernel stores a frame record with the interrupted frame pointer and link register, and below it
 * siginfo_t and ucontext_t (struct rt_sigframe of arch/arm64/kernel/signal.c). The ucontext_t ends with
 * 4 KiB of records. What does not fit, the vectors of SVE and SME, comes after it, and a record says
 * so. AT_MINSIGSTKSZ includes all of it.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_AARCH64_SIGNAL_FRAME_H
#define PP_ARCH_AARCH64_SIGNAL_FRAME_H

#include "arch/registers.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#ifndef PP_MUSL /* whose <signal.h> has these records */
#include <asm/sigcontext.h>
#endif

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* The frame as a handler finds it: the stack pointer is at its beginning. */
typedef struct pp_signal_frame {
    siginfo_t info;
    ucontext_t context;
} pp_signal_frame;

_Static_assert(sizeof(((ucontext_t *)NULL)->uc_mcontext.__reserved) == 4096 &&
                   offsetof(pp_signal_frame, context) == sizeof(siginfo_t),
               "struct rt_sigframe");

/* What the process may use of the processor is no matter: the kernel reserves for all. */
static inline uint64_t pp_signal_features(void)
{
    return 1;
}

/* Returns an upper limit of the stack space that the kernel takes for one signal on an alternate
 * stack. */
static inline size_t pp_signal_frame_bytes(uint64_t features)
{
    enum { RECORD_AND_ALIGNMENT = 32 };
    (void)features;
    size_t most = getauxval(AT_MINSIGSTKSZ); /* Linux 4.18 */
    size_t least = sizeof(pp_signal_frame) + RECORD_AND_ALIGNMENT;
    return most > least ? most : least;
}

/* Whether the processor checks return addresses (Guarded Control Stack: CHKFEAT, which older ones take
 * for a hint): then no jump may leave a frame. */
static inline bool pp_has_shadow_stack(void)
{
    register uint64_t x16 __asm__("x16") = 1;
    __asm__ volatile("hint #40" : "+r"(x16));
    return x16 == 0;
}

/* Returns the record of what comes after the context; NULL: nothing does. */
static inline struct extra_context *pp_signal_extra(const ucontext_t *context)
{
    const unsigned char *records = (const unsigned char *)context->uc_mcontext.__reserved;
    struct _aarch64_ctx head = {0};
    for (size_t at = 0; at + sizeof(struct extra_context) <= 4096; at += head.size) {
        memcpy(&head, records + at, sizeof head);
        if (head.magic == EXTRA_MAGIC) {
            return (struct extra_context *)(uintptr_t)(records + at);
        }
        if (head.magic == 0 || head.size < sizeof head) {
            break;
        }
    }
    return NULL;
}

/*
 * Continues in `handler` as if the kernel had stored the signal's frame on the interrupted stack and
 * not on the alternate one. Leaves the caller's frames. `handler` returns from the signal as any
 * handler does.
 */
__attribute__((noreturn)) static inline void
pp_signal_move(void (*handler)(int, siginfo_t *, void *), int signal, const siginfo_t *info,
               const void *context)
{
    const ucontext_t *from = context;
    const pp_signal_frame *old =
        (const pp_signal_frame *)((const char *)from - offsetof(pp_signal_frame, context));
    const struct extra_context *extra = pp_signal_extra(from);
    size_t bytes = sizeof *old;
    (void)info;
    if (extra != NULL) {
        bytes = (size_t)(extra->datap + extra->size - (uintptr_t)old);
    }
    uintptr_t record = ((uintptr_t)from->uc_mcontext.sp & ~(uintptr_t)15) - 16;
    pp_signal_frame *frame = (pp_signal_frame *)((record - bytes) & ~(uintptr_t)15);
    memcpy(frame, old, bytes);
    extra = pp_signal_extra(&frame->context);
    if (extra != NULL) {
        uint64_t moved = extra->datap + ((uintptr_t)frame - (uintptr_t)old);
        memcpy((char *)(uintptr_t)extra + offsetof(struct extra_context, datap), &moved,
               sizeof moved);
    }
    ((uint64_t *)record)[0] = from->uc_mcontext.regs[PP_REG_FP];
    ((uint64_t *)record)[1] = from->uc_mcontext.regs[PP_REG_BX];
    register uintptr_t x0 __asm__("x0") = (uintptr_t)signal;
    register uintptr_t x1 __asm__("x1") = (uintptr_t)&frame->info;
    register uintptr_t x2 __asm__("x2") = (uintptr_t)&frame->context;
    register uintptr_t x16 __asm__("x16") = (uintptr_t)handler;
    register uintptr_t x17 __asm__("x17") = (uintptr_t)frame;
    register uintptr_t x10 __asm__("x10") = (uintptr_t)pp_signal_return;
    register uintptr_t x9 __asm__("x9") = record;
    __asm__ volatile("mov sp, x17\n\t"
                     "mov x29, x9\n\t"
                     "mov x30, x10\n\t"
                     "br x16"
                     :
                     : "r"(x0), "r"(x1), "r"(x2), "r"(x16), "r"(x17), "r"(x10), "r"(x9)
                     : "memory");
    __builtin_unreachable();
}

#endif
