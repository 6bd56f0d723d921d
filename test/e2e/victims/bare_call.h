/* SPDX-License-Identifier: MIT
 *
 * bare_call.h: a system call by the program's own instruction: no function of libc makes it, and errno stays.
 */
#ifndef BARE_CALL_H
#define BARE_CALL_H

static inline long bare_call(long number, long first, long second, long third)
{
#if defined(__x86_64__)
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return number;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = first;
    register long x1 __asm__("x1") = second;
    register long x2 __asm__("x2") = third;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

#endif
