/* SPDX-License-Identifier: MIT
 *
 * x86_64_signal_return.S: the return address of signal handlers that the library installs without
 * libc.
 *
 * x86-64 Linux requires SA_RESTORER: the address that the kernel pushes before the ucontext_t. Some
 * unwinders recognize such a place by these bytes (mov $15,%rax; syscall). For others there is CFI:
 * every register is in the ucontext_t, to which rsp points by then (System V ABI, AMD64; gregs of
 * <sys/ucontext.h>, which begin at byte 40). The FDE begins one byte early, since unwinders look up
 * the address before a return address.
 *
 * Zone: SIGNAL.
 */
#if defined(__x86_64__)

#include "arch/x86_64_asm.inc"

#include <asm/unistd_64.h>

#define DW_CFA_EXPRESSION     0x10
#define DW_CFA_DEF_EXPRESSION 0x0f
#define DW_OP_BREG7           0x77
#define DW_OP_DEREF           0x06

/* Marks a register as saved at rsp + offset; an offset of 64 or more has two bytes of SLEB128. */
.macro saved_near dwarf, offset
        .cfi_escape DW_CFA_EXPRESSION, \dwarf, 2, DW_OP_BREG7, \offset
.endm
.macro saved dwarf, offset
        .cfi_escape DW_CFA_EXPRESSION, \dwarf, 3, DW_OP_BREG7, (\offset & 0x7f) | 0x80, \offset >> 7
.endm

        .text
        .p2align 4
        .cfi_startproc simple
        .cfi_signal_frame
        .cfi_escape DW_CFA_DEF_EXPRESSION, 4, DW_OP_BREG7, (160 & 0x7f) | 0x80, 160 >> 7, DW_OP_DEREF
        saved_near 8, 40
        saved_near 9, 48
        saved_near 10, 56
        saved   11, 64
        saved   12, 72
        saved   13, 80
        saved   14, 88
        saved   15, 96
        saved   5, 104
        saved   4, 112
        saved   6, 120
        saved   3, 128
        saved   1, 136
        saved   0, 144
        saved   2, 152
        saved   7, 160
        saved   16, 168
        nop
        local   pp_signal_return
        .type   pp_signal_return, @function
pp_signal_return:
        mov     $__NR_rt_sigreturn, %rax
        syscall
        .cfi_endproc
        .size   pp_signal_return, . - pp_signal_return

#else
#error "libpprof has no return from signals for this architecture yet: add src/arch/<name>_signal_return.S"
#endif

        .section .note.GNU-stack, "", @progbits
