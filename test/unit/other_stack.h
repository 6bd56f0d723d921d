/* SPDX-License-Identifier: MIT
 *
 * other_stack.h: runs a function on another stack, so that what lies above it is what a test has
 * put there.
 */
#ifndef PP_TEST_OTHER_STACK_H
#define PP_TEST_OTHER_STACK_H

__asm__(".text\n"
        ".p2align 4\n"
        ".type run_on_other_stack, @function\n"
        "run_on_other_stack:\n"
        ".cfi_startproc\n"
#if defined(__x86_64__)
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register rbp\n"
        "mov %rdi, %rsp\n"
        "call *%rsi\n"
        "mov %rbp, %rsp\n"
        "pop %rbp\n"
        ".cfi_def_cfa rsp, 8\n"
#elif defined(__aarch64__)
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset x29, -16\n"
        ".cfi_offset x30, -8\n"
        "mov x29, sp\n"
        ".cfi_def_cfa_register x29\n"
        "mov sp, x0\n"
        "blr x1\n"
        "mov sp, x29\n"
        "ldp x29, x30, [sp], #16\n"
        ".cfi_def_cfa sp, 0\n"
        ".cfi_restore x29\n"
        ".cfi_restore x30\n"
#endif
        "ret\n"
        ".cfi_endproc\n"
        ".size run_on_other_stack, . - run_on_other_stack\n");

/* `top` is a multiple of 16. */
void run_on_other_stack(void *top, void (*function)(void));

#endif
