/* SPDX-License-Identifier: MIT
 *
 * context.c: getcontext, setcontext, makecontext and swapcontext for victims. musl declares them, and leaves them to a library
 * of others, which Debian has not. As in that library a context has no signal mask.
 */
#include <stdarg.h>
#include <stdint.h>
#include <ucontext.h>

__attribute__((visibility("hidden"))) extern const char context_end[];

/* Offsets of the registers in ucontext_t, as the kernel has it. */
#if defined(__x86_64__)

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
    ".globl context_end\n.hidden context_end\ncontext_end:\n"
    "    mov %rbx, %rdi\n"
    "    test %rdi, %rdi\n"
    "    jnz setcontext\n"
    "    call exit\n"
    "    hlt\n"
    "    .cfi_endproc\n"
    ".size context_end, . - context_end\n");

static void begin(ucontext_t *context, uintptr_t top, void (*function)(void))
{
    uintptr_t *sp = (uintptr_t *)top - 1;
    *sp = (uintptr_t)context_end;
    greg_t *registers = context->uc_mcontext.gregs;
    registers[REG_RSP] = (greg_t)sp;
    registers[REG_RIP] = (greg_t)function;
    registers[REG_RBX] = (greg_t)context->uc_link;
    registers[REG_RBP] = 0;
}

static void set_argument(ucontext_t *context, int i, int value)
{
    static const int argument[] = {REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9};
    context->uc_mcontext.gregs[argument[i]] = value;
}

#elif defined(__aarch64__)

/* X0 to SP, and PC after it; the low halves of the vector registers that functions keep, where X8 to X15 would be. */
__asm__(
    ".text\n"
    ".set X, 184\n.set SP_, X + 31 * 8\n.set V, X + 8 * 8\n"
    ".macro save\n"
    "    str xzr, [x0, X]\n"
    "    stp x19, x20, [x0, X + 19 * 8]\n"
    "    stp x21, x22, [x0, X + 21 * 8]\n"
    "    stp x23, x24, [x0, X + 23 * 8]\n"
    "    stp x25, x26, [x0, X + 25 * 8]\n"
    "    stp x27, x28, [x0, X + 27 * 8]\n"
    "    stp x29, x30, [x0, X + 29 * 8]\n"
    "    mov x9, sp\n"
    "    stp x9, x30, [x0, SP_]\n"
    "    stp d8, d9, [x0, V]\n"
    "    stp d10, d11, [x0, V + 16]\n"
    "    stp d12, d13, [x0, V + 32]\n"
    "    stp d14, d15, [x0, V + 48]\n"
    ".endm\n"
    ".globl getcontext, setcontext, swapcontext\n"
    ".type getcontext, %function\n"
    "getcontext:\n"
    "    .cfi_startproc\n"
    "    save\n"
    "    mov x0, 0\n"
    "    ret\n"
    "    .cfi_endproc\n"
    ".size getcontext, . - getcontext\n"
    ".type swapcontext, %function\n"
    "swapcontext:\n"
    "    .cfi_startproc\n"
    "    save\n"
    "    mov x0, x1\n"
    "    b setcontext\n"
    "    .cfi_endproc\n"
    ".size swapcontext, . - swapcontext\n"
    /* From the first change of a register that functions keep on, nobody has called this code. */
    ".type setcontext, %function\n"
    "setcontext:\n"
    "    .cfi_startproc\n"
    "    ldp x9, x16, [x0, SP_]\n"
    "    .cfi_undefined x30\n"
    "    ldp x19, x20, [x0, X + 19 * 8]\n"
    "    ldp x21, x22, [x0, X + 21 * 8]\n"
    "    ldp x23, x24, [x0, X + 23 * 8]\n"
    "    ldp x25, x26, [x0, X + 25 * 8]\n"
    "    ldp x27, x28, [x0, X + 27 * 8]\n"
    "    ldp x29, x30, [x0, X + 29 * 8]\n"
    "    ldp d8, d9, [x0, V]\n"
    "    ldp d10, d11, [x0, V + 16]\n"
    "    ldp d12, d13, [x0, V + 32]\n"
    "    ldp d14, d15, [x0, V + 48]\n"
    "    mov sp, x9\n"
    "    ldp x6, x7, [x0, X + 6 * 8]\n"
    "    ldp x4, x5, [x0, X + 4 * 8]\n"
    "    ldp x2, x3, [x0, X + 2 * 8]\n"
    "    ldp x0, x1, [x0, X]\n"
    "    ret x16\n"
    "    .cfi_endproc\n"
    ".size setcontext, . - setcontext\n"
    /* The function of a context returns to here; uc_link is in x19. Nobody has called this code. */
    ".type context_end, %function\n"
    "    .cfi_startproc\n"
    "    .cfi_undefined x30\n"
    "    nop\n"
    ".globl context_end\n.hidden context_end\ncontext_end:\n"
    "    mov x0, x19\n"
    "    cbnz x0, setcontext\n"
    "    bl exit\n"
    "    brk 1\n"
    "    .cfi_endproc\n"
    ".size context_end, . - context_end\n");

static void begin(ucontext_t *context, uintptr_t top, void (*function)(void))
{
    mcontext_t *registers = &context->uc_mcontext;
    registers->sp = top;
    registers->pc = (uintptr_t)function;
    registers->regs[19] = (uintptr_t)context->uc_link;
    registers->regs[29] = 0;
    registers->regs[30] = (uintptr_t)context_end;
}

static void set_argument(ucontext_t *context, int i, int value)
{
    context->uc_mcontext.regs[i] = (unsigned long)value;
}

#endif

void makecontext(ucontext_t *context, void (*function)(void), int count, ...)
{
    enum { ARGUMENTS = 6 };
    uintptr_t top = (uintptr_t)context->uc_stack.ss_sp + context->uc_stack.ss_size;
    begin(context, top & ~(uintptr_t)15, function);
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count && i < ARGUMENTS; i++) {
        set_argument(context, i, va_arg(list, int));
    }
    va_end(list);
}
