/* SPDX-License-Identifier: MIT
 *
 * x86_64_stubs.h: defines functions that C cannot express, because they must leave no frame.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_STUBS_H
#define PP_ARCH_X86_64_STUBS_H

#include "arch/shown_as.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Defines the function `name(a, b, c)` as a jump to `target(a, b, c, sp, fp, bx)`, where sp is the
 * stack pointer on entry (it points to the return address) and fp and bx are the caller's rbp and
 * rbx.
 */
#define PP_STUB_WITH_CALLER(name, target)                                                          \
    __asm__(".text\n"                                                                              \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n" #name ":\n"                                             \
            ".Lpp_stub_" #name ":\n"                                                               \
            ".cfi_startproc\n"                                                                     \
            "endbr64\n"                                                                            \
            "mov %rsp, %rcx\n"                                                                     \
            "mov %rbp, %r8\n"                                                                      \
            "mov %rbx, %r9\n"                                                                      \
            "jmp " #target "\n"                                                                    \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n" PP_SHOWN_AS_ROW(#target, ".Lpp_stub_" #name))

/*
 * Defines the function `name` (weak; `entry` is the same address for the library itself). It calls
 * target(const pp_stub_call *) with its arguments, up to six, and its caller's registers, and
 * returns the result.
 */
typedef struct pp_stub_call {
    uintptr_t argument[6];
    uintptr_t bx, fp; /* the caller's */
    uintptr_t unused;
    uintptr_t return_address; /* the caller's frame begins after it */
} pp_stub_call;

_Static_assert(offsetof(pp_stub_call, bx) == 48 && offsetof(pp_stub_call, return_address) == 72,
               "PP_STUB_CALL writes it");

#define PP_STUB_CALL(name, entry, target)                                                          \
    __asm__(".text\n"                                                                              \
            ".weak " name "\n"                                                                     \
            ".type " name ", @function\n"                                                          \
            ".hidden " entry "\n"                                                                  \
            ".globl " entry "\n" name ":\n" entry ":\n"                                            \
            ".cfi_startproc\n"                                                                     \
            "endbr64\n"                                                                            \
            "sub $8, %rsp\n"                                                                       \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %rbp\n"                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %rbx\n"                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %r9\n"                                                                           \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %r8\n"                                                                           \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %rcx\n"                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %rdx\n"                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %rsi\n"                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "push %rdi\n"                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "mov %rsp, %rdi\n"                                                                     \
            "call " target "\n"                                                                    \
            "add $72, %rsp\n"                                                                      \
            ".cfi_adjust_cfa_offset -72\n"                                                         \
            "ret\n"                                                                                \
            ".cfi_endproc\n"                                                                       \
            ".size " name ", . - " name "\n")

/* Defines `name` (weak) as another name of `other`. */
#define PP_STUB_ALIAS(name, other)                                                                 \
    __asm__(".weak " name "\n"                                                                     \
            ".set " name ", " other "\n")

/*
 * Defines the thread start routine `name(arg)`. It calls `prepare(arg, sp, fp, bx)` with its
 * caller's registers (the return address is at sp), which returns a struct of two words {function,
 * argument}. Then it jumps to function(argument), so that the thread's stack looks as if the C
 * library had called the function itself.
 */
#define PP_STUB_THREAD_START(name, prepare)                                                        \
    __asm__(".text\n"                                                                              \
            ".hidden " #name "\n"                                                                  \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n" #name ":\n"                                             \
            ".cfi_startproc\n"                                                                     \
            "endbr64\n"                                                                            \
            "mov %rsp, %rsi\n"                                                                     \
            "mov %rbp, %rdx\n"                                                                     \
            "mov %rbx, %rcx\n"                                                                     \
            "sub $8, %rsp\n"                                                                       \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            "call " #prepare "\n"                                                                  \
            "add $8, %rsp\n"                                                                       \
            ".cfi_adjust_cfa_offset -8\n"                                                          \
            "mov %rdx, %rdi\n"                                                                     \
            "jmp *%rax\n"                                                                          \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n");                                                   \
    PP_NOT_SHOWN(name)

/*
 * PP_REALIGNS_STACK: for a function of ours that libc calls. musl's pthread_cancel() makes a thread that computes go on in musl
 * with the stack pointer that it has, so the destructors of keys may be called with one that is not aligned.
 */
#define PP_REALIGNS_STACK __attribute__((force_align_arg_pointer))

#endif
