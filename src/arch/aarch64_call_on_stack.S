/* SPDX-License-Identifier: MIT
 *
 * aarch64_call_on_stack.S: pp_call_on_stack(). The frame pointer keeps the caller's stack, so that
 * its CFI is that of any function with a frame pointer.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.small_stacks
 */
#include "arch/aarch64_asm.inc"

        .text
        local   pp_call_on_stack
landing pp_call_on_stack
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        .cfi_def_cfa_register x29
        mov     sp, x0
        mov     x0, x2
        blr     x1
        mov     sp, x29
        .cfi_def_cfa_register sp
        ldp     x29, x30, [sp], #16
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        ret
end pp_call_on_stack

        properties
