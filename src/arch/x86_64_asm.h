/* SPDX-License-Identifier: MIT
 *
 * x86_64_asm.h: what the assembler files have in common.
 *
 * Zone: HOOK (no code).
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_ARCH_X86_64_ASM_H
#define PP_ARCH_X86_64_ASM_H

/* A function begins, aligned to 2^align bytes, and ends. */
.macro function name, align=4
        .type \name, @function
        .p2align \align
\name:
        .cfi_startproc
.endm

.macro end name
        .cfi_endproc
        .size \name, . - \name
.endm

/* Seen in the whole library and not outside. */
.macro local name
        .hidden \name
        .globl \name
.endm

/* Onto the stack, or back, with what unwinders need to know of it. */
.macro keep register
        push    %\register
        .cfi_adjust_cfa_offset 8
.endm

.macro restore register
        pop     %\register
        .cfi_adjust_cfa_offset -8
.endm

#endif
