/* SPDX-License-Identifier: MIT
 *
 * x86_64_call_on_stack.S: pp_call_on_stack(). The frame pointer keeps the caller's stack, so that
 * its CFI is that of any function with a frame pointer.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.small_stacks
 */
#if defined(__x86_64__)

#include "arch/x86_64_asm.inc"

        .text
        local   pp_call_on_stack
function pp_call_on_stack
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        mov     %rdi, %rsp
        mov     %rdx, %rdi
        call    *%rsi
        leave
        .cfi_def_cfa %rsp, 8
        ret
end pp_call_on_stack

#else
#error "libpprof cannot change stacks on this architecture yet: add src/arch/<name>_call_on_stack.S"
#endif

        .section .note.GNU-stack, "", @progbits
