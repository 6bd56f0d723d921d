/* SPDX-License-Identifier: MIT
 *
 * aarch64_stubs.h: defines functions that C cannot express, because they must leave no frame.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_AARCH64_STUBS_H
#define PP_ARCH_AARCH64_STUBS_H

#include "arch/shown_as.h"

#include <stddef.h>
#include <stdint.h>

#define PP_BTI_C "hint #34\n"

/*
 * Defines the function `name(a, b, c)` as a jump to `target(a, b, c, sp, fp, bx)`, where sp is the
 * stack pointer on entry, fp is the caller's x29, and bx is x30, the return address.
 */
#define PP_STUB_WITH_CALLER(name, target)                                                          \
    __asm__(".text\n"                                                                              \
            ".p2align 2\n"                                                                         \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", %function\n" #name ":\n"                                             \
            ".Lpp_stub_" #name ":\n"                                                               \
            ".cfi_startproc\n" PP_BTI_C "mov x3, sp\n"                                             \
            "mov x4, x29\n"                                                                        \
            "mov x5, x30\n"                                                                        \
            "b " #target "\n"                                                                      \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n" PP_SHOWN_AS_ROW(#target, ".Lpp_stub_" #name))

/*
 * Defines the function `name` (weak; `entry` is the same address for the library itself). It calls
 * target(const pp_stub_call *) with its arguments, up to six, and its caller's registers, and
 * returns the result.
 */
typedef struct pp_stub_call {
    uintptr_t argument[6];
    uintptr_t bx; /* the return address as well */
    uintptr_t unused;
    uintptr_t fp; /* the caller's; with what follows, a frame record */
    uintptr_t return_address;
} pp_stub_call;

_Static_assert(offsetof(pp_stub_call, bx) == 48 && offsetof(pp_stub_call, fp) == 64,
               "PP_STUB_CALL writes it");

#define PP_STUB_CALL(name, entry, target)                                                          \
    __asm__(".text\n"                                                                              \
            ".p2align 2\n"                                                                         \
            ".weak " name "\n"                                                                     \
            ".type " name ", %function\n"                                                          \
            ".hidden " entry "\n"                                                                  \
            ".globl " entry "\n" name ":\n" entry ":\n"                                            \
            ".cfi_startproc\n" PP_BTI_C "sub sp, sp, #80\n"                                        \
            ".cfi_adjust_cfa_offset 80\n"                                                          \
            "stp x29, x30, [sp, #64]\n"                                                            \
            ".cfi_offset x29, -16\n"                                                               \
            ".cfi_offset x30, -8\n"                                                                \
            "add x29, sp, #64\n"                                                                   \
            "stp x0, x1, [sp]\n"                                                                   \
            "stp x2, x3, [sp, #16]\n"                                                              \
            "stp x4, x5, [sp, #32]\n"                                                              \
            "str x30, [sp, #48]\n"                                                                 \
            "mov x0, sp\n"                                                                         \
            "bl " target "\n"                                                                      \
            "ldp x29, x30, [sp, #64]\n"                                                            \
            ".cfi_restore x29\n"                                                                   \
            ".cfi_restore x30\n"                                                                   \
            "add sp, sp, #80\n"                                                                    \
            ".cfi_adjust_cfa_offset -80\n"                                                         \
            "ret\n"                                                                                \
            ".cfi_endproc\n"                                                                       \
            ".size " name ", . - " name "\n")

/* Defines `name` (weak) as another name of `other`. */
#define PP_STUB_ALIAS(name, other)                                                                 \
    __asm__(".weak " name "\n"                                                                     \
            ".set " name ", " other "\n")

/*
 * Defines the thread start routine `name(arg)`. It calls `prepare(arg, sp, fp, bx)` with its
 * caller's registers (bx is x30, the return address), which returns a struct of two words {function,
 * argument}. Then it jumps to function(argument), so that the thread's stack looks as if the C
 * library had called the function itself.
 */
#define PP_STUB_THREAD_START(name, prepare)                                                        \
    __asm__(".text\n"                                                                              \
            ".p2align 2\n"                                                                         \
            ".hidden " #name "\n"                                                                  \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", %function\n" #name ":\n"                                             \
            ".cfi_startproc\n" PP_BTI_C "mov x1, sp\n"                                             \
            "mov x2, x29\n"                                                                        \
            "mov x3, x30\n"                                                                        \
            "stp x29, x30, [sp, #-16]!\n"                                                          \
            ".cfi_adjust_cfa_offset 16\n"                                                          \
            ".cfi_offset x29, -16\n"                                                               \
            ".cfi_offset x30, -8\n"                                                                \
            "mov x29, sp\n"                                                                        \
            "bl " #prepare "\n"                                                                    \
            "ldp x29, x30, [sp], #16\n"                                                            \
            ".cfi_restore x29\n"                                                                   \
            ".cfi_restore x30\n"                                                                   \
            ".cfi_adjust_cfa_offset -16\n"                                                         \
            "mov x16, x0\n"                                                                        \
            "mov x0, x1\n"                                                                         \
            "br x16\n"                                                                             \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n");                                                   \
    PP_NOT_SHOWN(name)

/*
 * PP_REALIGNS_STACK: nothing. The stack pointer is always aligned.
 */
#define PP_REALIGNS_STACK

#endif
