/* SPDX-License-Identifier: MIT
 *
 * x86_64_signal_frame.h: how much of a stack the kernel takes for a signal.
 *
 * A frame is the registers' state as XSAVE writes it, and below it ucontext_t, siginfo_t and the
 * restorer's address (struct rt_sigframe of arch/x86/include/asm/sigframe.h). The state's size depends on
 * the processor's features and, with AMX, on whether the process has asked for it; AT_MINSIGSTKSZ counts
 * all of them. Sizes and offsets of the features: CPUID leaf 0xd (Intel SDM, volume 1, 13.2).
 *
 * Zone: SIGNAL (CPUID and a system call).
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_ARCH_X86_64_SIGNAL_FRAME_H
#define PP_ARCH_X86_64_SIGNAL_FRAME_H

#include "arch/system_call.h"

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_ARCH_GET_XCOMP_PERM = 0x1022, /* of <asm/prctl.h>, Linux 5.16 */
    PP_XSAVE_LEAF = 0xd,
    PP_XSAVE_LEAST = 512 + 64, /* the legacy region and the header */
    PP_XSAVE_FEATURES = 63,
    PP_XSAVE_FIRST_EXTENDED = 2, /* 0 and 1 lie in the legacy region */
    /* struct rt_sigframe: 8 + 304 + 128 bytes; 64 to align the state, 4 behind it. */
    PP_SIGNAL_FRAME_REST = 8 + 304 + 128 + 64 + 16
};

/* The features whose state a frame of this process has: a bit each. */
static inline uint64_t pp_xsave_features(void)
{
    uint64_t permitted = 0;
    unsigned low = 0;
    unsigned size = 0;
    unsigned most = 0;
    unsigned high = 0;
    if (__get_cpuid_count(PP_XSAVE_LEAF, 0, &low, &size, &most, &high) == 0) {
        return 0;
    }
    uint64_t supported = (uint64_t)high << 32 | low;
    bool asked = pp_system_call(SYS_arch_prctl, PP_ARCH_GET_XCOMP_PERM, &permitted) == 0;
    return asked ? supported & permitted : supported;
}

/* An upper limit of what the kernel takes for one signal on a stack of its own. */
static inline size_t pp_signal_frame_bytes(void)
{
    uint64_t features = pp_xsave_features();
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

#endif
