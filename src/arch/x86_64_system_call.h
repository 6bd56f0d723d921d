/* SPDX-License-Identifier: MIT
 *
 * x86_64_system_call.h: the system call instruction of x86-64 Linux (System V ABI, AMD64, A.2.1),
 * the vDSO's name of a function that needs no system call [vdso(7)], and the thread pointer.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_SYSTEM_CALL_H
#define PP_ARCH_X86_64_SYSTEM_CALL_H

#include <stdint.h>

#define PP_VDSO_CLOCK_GETTIME "__vdso_clock_gettime"

static inline long pp_system_call6(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Returns the calling thread's FS base: the address of its thread control block, which begins with
 * this address (System V ABI). 0 if the kernel does not say. */
static inline uintptr_t pp_thread_pointer_from_kernel(void)
{
    enum { ARCH_PRCTL = 158, GET_FS = 0x1003 /* ARCH_GET_FS of <asm/prctl.h> */ };
    uintptr_t base = 0;
    return pp_system_call6(ARCH_PRCTL, GET_FS, (long)&base, 0, 0, 0, 0) == 0 ? base : 0;
}

static inline void pp_spin_hint(void) /* Intel SDM, volume 2, PAUSE */
{
    __builtin_ia32_pause();
}

#endif
