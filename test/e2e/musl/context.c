/* SPDX-License-Identifier: MIT
 *
 * context.c: getcontext, setcontext, makecontext and swapcontext for victims. musl declares them, and leaves them to a library
 * of others, which Debian has not. As in that library a context has no signal mask.
 */
#include <stdarg.h>
#include <stdint.h>
#include <ucontext.h>

/* Offsets of the registers in ucontext_t, as the kernel has it. */
__asm__(
    ".text\n"
    ".set R8, 40\n.set R9, 48\n.set R12, 72\n.set R13, 80\n.set R14, 88\n.set R15, 96\n.set RDI, "
    "104\n"
    ".set RSI, 112\n.set RBP, 120\n.set RBX, 128\n.set RDX, 136\n.set RCX, 152\n.set RSP, "
    "160\n.set RIP, 168\n"
    ".macro save\n"
    "    mov %rbx, RBX(%rdi)\n"
    "    mov %rbp, RBP(%rdi)\n"
    "    mov %r12, R12(%rdi)\n"
    "    mov %r13, R13(%rdi)\n"
    "    mov %r14, R14(%rdi)\n"
    "    mov %r15, R15(%rdi)\n"
    "    mov (%rsp), %rcx\n"
    "    mov %rcx, RIP(%rdi)\n"
    "    lea 8(%rsp), %rcx\n"
    "    mov %rcx, RSP(%rdi)\n"
    ".endm\n"
    ".globl getcontext, setcontext, swapcontext\n"
    ".type getcontext, @function\n"
    "getcontext:\n"
    "    .cfi_startproc\n"
    "    save\n"
    "    xor %eax, %eax\n"
    "    ret\n"
    "    .cfi_endproc\n"
    ".size getcontext, . - getcontext\n"
    ".type swapcontext, @function\n"
    "swapcontext:\n"
    "    .cfi_startproc\n"
    "    save\n"
    "    mov %rsi, %rdi\n"
    "    jmp setcontext\n"
    "    .cfi_endproc\n"
    ".size swapcontext, . - swapcontext\n"
    /* From the change of the stack pointer on, the frame is that of the other context's function. */
    ".type setcontext, @function\n"
    "setcontext:\n"
    "    .cfi_startproc\n"
    "    mov RBX(%rdi), %rbx\n"
    "    mov RBP(%rdi), %rbp\n"
    "    mov R12(%rdi), %r12\n"
    "    mov R13(%rdi), %r13\n"
    "    mov R14(%rdi), %r14\n"
    "    mov R15(%rdi), %r15\n"
    "    mov RSP(%rdi), %rsp\n"
    "    .cfi_def_cfa_offset 0\n"
    "    .cfi_undefined %rip\n"
    "    push RIP(%rdi)\n"
    "    .cfi_def_cfa_offset 8\n"
    "    .cfi_offset %rip, -8\n"
    "    mov R8(%rdi), %r8\n"
    "    mov R9(%rdi), %r9\n"
    "    mov RDX(%rdi), %rdx\n"
    "    mov RCX(%rdi), %rcx\n"
    "    mov RSI(%rdi), %rsi\n"
    "    mov RDI(%rdi), %rdi\n"
    "    xor %eax, %eax\n"
    "    ret\n"
    "    .cfi_endproc\n"
    ".size setcontext, . - setcontext\n"
    /* The function of a context returns to here; uc_link is in rbx. Nobody has called this code. */
    ".type context_end, @function\n"
    "    .cfi_startproc\n"
    "    .cfi_undefined %rip\n"
    "    nop\n"
    "context_end:\n"
    "    mov %rbx, %rdi\n"
    "    test %rdi, %rdi\n"
    "    jnz setcontext\n"
    "    call exit\n"
    "    hlt\n"
    "    .cfi_endproc\n"
    ".size context_end, . - context_end\n");

extern const char context_end[];

void makecontext(ucontext_t *context, void (*function)(void), int count, ...)
{
    static const int argument[] = {REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9};
    uintptr_t top = (uintptr_t)context->uc_stack.ss_sp + context->uc_stack.ss_size;
    uintptr_t *sp = (uintptr_t *)(top & ~(uintptr_t)15) - 1;
    *sp = (uintptr_t)context_end;
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RSP] = (greg_t)sp;
    registers[REG_RIP] = (greg_t)function;
    registers[REG_RBX] = (greg_t)context->uc_link;
    registers[REG_RBP] = 0;
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count && i < (int)(sizeof argument / sizeof *argument); i++) {
        registers[argument[i]] = va_arg(list, int);
    }
    va_end(list);
}
