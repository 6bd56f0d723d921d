/* SPDX-License-Identifier: MIT
 *
 * frames_plain_start.c: an entry point without call-frame information, as old C libraries have it.
 *
 * Flags: -nostartfiles
 */
#include "frames.h"

__asm__(".text\n.globl _start\n.type _start, @function\n_start:\n"
#if defined(__x86_64__)
        "xor %ebp, %ebp\n"
        "mov %rdx, %r9\n"
        "pop %rsi\n"
        "mov %rsp, %rdx\n"
        "and $-16, %rsp\n"
        "push %rax\n"
        "push %rsp\n"
        "xor %r8d, %r8d\n"
        "xor %ecx, %ecx\n"
        "lea main(%rip), %rdi\n"
        "call *__libc_start_main@GOTPCREL(%rip)\n"
        "hlt\n"
#elif defined(__aarch64__)
        "mov x29, xzr\n"
        "mov x30, xzr\n"
        "mov x5, x0\n"
        "ldr x1, [sp]\n"
        "add x2, sp, #8\n"
        "mov x6, sp\n"
        "adrp x0, main\n"
        "add x0, x0, #:lo12:main\n"
        "mov x3, xzr\n"
        "mov x4, xzr\n"
        "bl __libc_start_main\n"
        "udf #0\n"
#endif
        ".size _start, .-_start\n");
