/* SPDX-License-Identifier: MIT
 *
 * x86_64_apart.S: pp_apart_call(). Both threads have the same stack pointer. The caller waits by a
 * loop that has all it needs in registers, so the other thread may write below and call as if it
 * were the caller: a walk of its stack goes on to the caller's frames.
 *
 *   caller:  clone --> futex(*lives) ... until the kernel stores 0 --> return 0
 *   other:         `-> function(argument) --> exit
 *
 * Zone: SIGNAL.
 * Tested by: unit.apart, e2e.descriptors
 */
#if defined(__x86_64__)

#include "arch/x86_64_asm.inc"

#include <asm/unistd_64.h>

        .text
        local   pp_apart_call
        local   pp_apart_call_end
function pp_apart_call
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        push    %rbx
        .cfi_offset %rbx, -24
        push    %r12
        .cfi_offset %r12, -32
        mov     %rcx, %rbx
        mov     %r8, %r12
        mov     %rdx, %r10      /* the kernel stores 0 here when the thread has ended, */
        mov     %rdx, %r9       /* a register that system calls keep */
        mov     %rsi, %rdx      /* and the thread's id here */
        xor     %esi, %esi      /* the same stack */
        xor     %r8d, %r8d      /* the same thread-local storage */
        mov     $__NR_clone, %eax
        syscall
        test    %rax, %rax
        jz      2f
        js      3f
1:      mov     (%r9), %edx
        test    %edx, %edx
        jz      4f
        mov     %r9, %rdi
        xor     %esi, %esi      /* FUTEX_WAIT, as the kernel wakes: not private */
        xor     %r10d, %r10d
        mov     $__NR_futex, %eax
        syscall
        jmp     1b
2:      mov     %r12, %rdi
        call    *%rbx
        xor     %edi, %edi
        mov     $__NR_exit, %eax
        syscall
        hlt
4:      xor     %eax, %eax
3:      pop     %r12
        pop     %rbx
        pop     %rbp
        .cfi_def_cfa %rsp, 8
        ret
end pp_apart_call
pp_apart_call_end:

#else
#error "libpprof cannot lend its stack on this architecture yet: add src/arch/<name>_apart.S"
#endif

        .section .note.GNU-stack, "", @progbits
