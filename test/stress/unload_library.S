/* SPDX-License-Identifier: MIT
 *
 * unload_library.S: one of the libraries that unload.c loads and unloads; -DLIBRARY=N makes the
 * Nth.
 *
 *   storm_code   slot 0 | slot 1 | ... | slot 12 | constructor | destructor      256 bytes each
 *
 * Slots call each other in a chain that begins at slot N % 13 and goes on in steps of 1 + N % 12;
 * the last one calls its argument. In every library a slot's call ends at the same offset, but the
 * frames differ in size and in kind: a rule of the library that was at this address before leads
 * somewhere else. unload.c knows slots, calls and steps, and from them the one right chain of
 * callers.
 */
#define SLOTS      13
#define SLOT_BYTES 256
#define CALL_END   128
#define ROUNDS     100  /* in each slot, before its call and after it */
#define END_ROUNDS 3000 /* in the constructor and the destructor */

        .set    STEP, 1 + (LIBRARY % (SLOTS - 1))
        .set    FIRST, LIBRARY % SLOTS
        .set    LAST, (FIRST + (SLOTS - 1) * STEP) % SLOTS

/* kind: 0 rsp, 1 rbp, 2 rsp with rbp and rbx saved and put to other use, 3 rbx, 4 an expression. SP
 * stays a multiple of 16. */
        .macro  enter number
        .set    kind, (LIBRARY * 2 + \number * 3) % 5
        .set    room, 16 * ((LIBRARY * 5 + \number * 3) % 16)
        .if     kind == 0
        subq    $room + 8, %rsp
        .cfi_def_cfa_offset room + 16
        .elseif kind == 1
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        subq    $room, %rsp
        .elseif kind == 2
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        pushq   %rbx
        .cfi_def_cfa_offset 24
        .cfi_offset %rbx, -24
        subq    $room + 8, %rsp
        .cfi_def_cfa_offset room + 32
        leaq    16(%rsp), %rbp
        leaq    32(%rsp), %rbx
        .elseif kind == 3
        pushq   %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        movq    %rsp, %rbx
        .cfi_def_cfa_register %rbx
        subq    $room, %rsp
        .else
        leaq    8(%rsp), %rax
        subq    $room + 8, %rsp
        .cfi_def_cfa_offset room + 16
        movq    %rax, (%rsp)
        .cfi_escape 0x0f, 3, 0x77, 0, 6 /* DW_CFA_def_cfa_expression: breg7 (rsp) + 0, deref */
        .endif
        .endm

        .macro  leave_and_return
        .if     kind == 0
        addq    $room + 8, %rsp
        .cfi_def_cfa_offset 8
        .elseif kind == 1
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbp
        .elseif kind == 2
        addq    $room + 8, %rsp
        .cfi_def_cfa_offset 24
        popq    %rbx
        .cfi_def_cfa_offset 16
        .cfi_restore %rbx
        popq    %rbp
        .cfi_def_cfa_offset 8
        .cfi_restore %rbp
        .elseif kind == 3
        movq    %rbx, %rsp
        popq    %rbx
        .cfi_def_cfa %rsp, 8
        .cfi_restore %rbx
        .else
        .cfi_def_cfa %rsp, room + 16
        addq    $room + 8, %rsp
        .cfi_def_cfa_offset 8
        .endif
        ret
        .endm

        .macro  burn rounds
        movl    $\rounds, %ecx
1:      decl    %ecx
        jnz     1b
        .endm

        .macro  slot number
        .org    code + \number * SLOT_BYTES, 0x90
        .cfi_startproc
        enter   \number
        burn    ROUNDS
        .if     \number == LAST
        .org    code + \number * SLOT_BYTES + CALL_END - 2, 0x90
        call    *%rdi
        .else
        .org    code + \number * SLOT_BYTES + CALL_END - 5, 0x90
        call    code + (\number + STEP) % SLOTS * SLOT_BYTES
        .endif
        burn    ROUNDS
        leave_and_return
        .cfi_endproc
        .endm

        .macro  ending number
        .org    code + \number * SLOT_BYTES, 0x90
        .cfi_startproc
        enter   \number
        burn    END_ROUNDS
        leave_and_return
        .cfi_endproc
        .endm

        .text
        .p2align 12
        .globl  storm_code
        .type   storm_code, @function
storm_code:
code:
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
        slot    \number
        .endr
        ending  SLOTS
        ending  (SLOTS + 1)
        .org    code + (SLOTS + 2) * SLOT_BYTES, 0x90
        .size   storm_code, . - storm_code

        .section .init_array, "aw", @init_array
        .quad   code + SLOTS * SLOT_BYTES
        .section .fini_array, "aw", @fini_array
        .quad   code + (SLOTS + 1) * SLOT_BYTES

        .section .note.GNU-stack, "", @progbits
