/* SPDX-License-Identifier: MIT
 *
 * frames_plain_start.c: an entry point without call-frame information, as old C libraries have it.
 *
 * Flags: -nostartfiles
 */
#include "frames.h"

__asm__(".text\n.globl _start\n.type _start, @function\n_start:\n"
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
        ".size _start, .-_start\n");
