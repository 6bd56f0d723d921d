/* SPDX-License-Identifier: MIT
 *
 * x86_64_system_call.h: the system call instruction of x86-64 Linux (System V ABI, AMD64, A.2.1),
 * and the vDSO's name of a function that needs no system call [vdso(7)].
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_SYSTEM_CALL_H
#define PP_ARCH_X86_64_SYSTEM_CALL_H

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

#endif
