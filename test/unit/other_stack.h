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
        "ret\n"
        ".cfi_endproc\n"
        ".size run_on_other_stack, . - run_on_other_stack\n");

/* `top` is a multiple of 16. */
void run_on_other_stack(void *top, void (*function)(void));

#endif
