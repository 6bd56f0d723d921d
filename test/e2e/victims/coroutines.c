/* SPDX-License-Identifier: MIT
 *
 * coroutines.c: stacks that a program made itself. Each kind burns 200 ms in
 * coroutine_leaf, and each function from there to where the stack begins must be seen.
 *
 *   context_body     swapcontext, a stack from mmap with a guard page below it
 *   malloc_body      the same on the heap, no guard, not aligned to a page
 *   outer_body       a coroutine that starts another (inner_body), and burns when that one is done
 *   frames_body      a switch in assembler with CFI, which says where the stack ends
 *   jump_body        the same without CFI, as in Boost.Context: entered by a jump, the return
 *                    address a function that never returns
 *   zero_body        without CFI, as in libco: a fresh stack has 0 for a return address
 *   thread_body      as the first, in a thread
 *   short_body       thousands, of 16 to 256 KiB, unmapped as soon as they end, in two threads
 */
#include "burn.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    STACK = 64 * 1024,
    PAGE = 4096,
    GUARD = 64 * 1024 /* the largest page there is */,
    MS = 200
};

typedef void body(void);

static __thread double used;
static uintptr_t start_context; /* where the stacks of swapcontext begin: a function of libc's */

void coroutine_leaf(void)
{
    used += burn_ms(MS);
}

#define BODY(name, last_call)                                                                      \
    void name(void)                                                                                \
    {                                                                                              \
        coroutine_leaf();                                                                          \
        last_call;                                                                                 \
    }

/* ---- swapcontext ---- */

static __thread ucontext_t home;
static __thread ucontext_t away;

static void run_by_context(void *stack, size_t size, body *function)
{
    ucontext_t back = home;
    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = size;
    away.uc_link = &home;
    makecontext(&away, function, 0);
#if defined(__x86_64__)
    start_context = *(const uintptr_t *)(uintptr_t)away.uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    start_context = away.uc_mcontext.regs[30];
#endif
    swapcontext(&home, &away);
    home = back;
}

static char *map_stack(size_t size)
{
    char *stack = mmap(NULL, GUARD + size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, GUARD, PROT_NONE) != 0) {
        abort();
    }
    return stack + GUARD;
}

static void unmap_stack(char *stack, size_t size)
{
    munmap(stack - GUARD, GUARD + size);
}

BODY(context_body, burn_sink++)
BODY(malloc_body, burn_sink++)
BODY(inner_body, burn_sink++)
BODY(thread_body, burn_sink++)

static void run_on_mapped_stack(body *function)
{
    char *stack = map_stack(STACK);
    run_by_context(stack, STACK, function);
    unmap_stack(stack, STACK);
}

void by_context(void)
{
    run_on_mapped_stack(context_body);
}

void by_malloc(void)
{
    char *stack = malloc(STACK + 24);
    run_by_context(stack + 24, STACK - 8, malloc_body);
    free(stack);
}

void outer_body(void)
{
    ucontext_t own = away;
    run_on_mapped_stack(inner_body);
    away = own;
    used = 0;
    coroutine_leaf();
}

void by_nesting(void)
{
    run_on_mapped_stack(outer_body);
}

/* ---- by hand ---- */

#if defined(__x86_64__)
#define PUSH(cfi, name)                                                                            \
    "push %" name "\n" cfi(".cfi_adjust_cfa_offset 8\n.cfi_rel_offset " name ", 0\n")
#define POP(cfi, name) "pop %" name "\n" cfi(".cfi_adjust_cfa_offset -8\n.cfi_restore " name "\n")
/* clang-format off */
#define SWITCH_BODY(cfi)                                                                           \
    PUSH(cfi, "rbp") PUSH(cfi, "rbx") PUSH(cfi, "r12") PUSH(cfi, "r13") PUSH(cfi, "r14")           \
    PUSH(cfi, "r15") "mov %rsp, (%rdi)\nmov %rsi, %rsp\n" POP(cfi, "r15") POP(cfi, "r14")          \
    POP(cfi, "r13") POP(cfi, "r12") POP(cfi, "rbx") POP(cfi, "rbp") "ret\n"
/* clang-format on */
/* Where a fresh stack begins: rbx holds the body. */
#define BEGIN_FRAMES ".cfi_undefined rip\ncall *%rbx\nud2\n"
/* Boost.Context: a trampoline that pushes its successor as a return address, and jumps. */
#define BEGIN_BARE  "push %rbp\njmp *%rbx\n"
#define FINISH_BARE "xor %edi, %edi\ncall _exit@PLT\nud2\n"
#elif defined(__aarch64__)
#include "aarch64_switch.h"
#define BEGIN_FRAMES ".cfi_undefined x30\nblr x19\nudf #0\n"
#define BEGIN_BARE   "mov x30, x20\nbr x19\n"
#define FINISH_BARE  "mov x0, xzr\nbl _exit\nudf #0\n"
#endif

/* switch_NAME(&save, to): pushes what has to survive, goes over to the stack `to` and
 * pops there. */
#define SWITCH(name, cfi)                                                                          \
    __asm__(".text\n.type " #name ", @function\n" #name ":\n" cfi(".cfi_startproc\n")              \
                SWITCH_BODY(cfi) cfi(".cfi_endproc\n") ".size " #name ", .-" #name "\n");          \
    extern void name(void **save, void *to)

/* GNU ld gives local symbols of a section one place in the GOT of aarch64. */
#define IN_ASM __attribute__((visibility("hidden"))) extern

#define WITH(text)    text
#define WITHOUT(text) ""

SWITCH(switch_frames, WITH);
SWITCH(switch_bare, WITHOUT);

__asm__(".text\n.globl begin_frames\n.hidden begin_frames\n.type begin_frames, "
        "@function\nbegin_frames:\n"
        ".cfi_startproc\n" BEGIN_FRAMES ".cfi_endproc\n.size begin_frames, .-begin_frames\n");
IN_ASM void begin_frames(void);

__asm__(".text\n.globl begin_bare, finish_bare\n.hidden begin_bare, finish_bare\n.type begin_bare, "
        "@function\nbegin_bare:\n" BEGIN_BARE ".size begin_bare, .-begin_bare\n"
        ".type finish_bare, @function\nfinish_bare:\n" FINISH_BARE
        ".size finish_bare, .-finish_bare\n");
IN_ASM void begin_bare(void);
IN_ASM void finish_bare(void);

static void *main_stack;
static void *own_stack;

BODY(frames_body, switch_frames(&own_stack, main_stack))
BODY(jump_body, switch_bare(&own_stack, main_stack))
BODY(zero_body, switch_bare(&own_stack, main_stack))

/* A fresh stack: where it begins, and what that finds in rbx and rbp, or in x19 and x20. */
static void *prepare(char *top_of_stack, body *rbx, body *rbp, body *start)
{
#if defined(__x86_64__)
    /* What a switch pops: r15 r14 r13 r12 rbx rbp, the address to go to, and what lies above. */
    uintptr_t *top = (uintptr_t *)top_of_stack;
    *--top = 0;
    *--top = 0;
    *--top = (uintptr_t)start;
    *--top = (uintptr_t)rbp;
    *--top = (uintptr_t)rbx;
    for (int i = 0; i < 4; i++) {
        *--top = 0;
    }
    return top;
#elif defined(__aarch64__)
    struct switch_frame *frame = (struct switch_frame *)((uintptr_t)top_of_stack & -16UL) - 1;
    *frame = (struct switch_frame){.x19_to_x28 = {(uintptr_t)rbx, (uintptr_t)rbp},
                                   .go_to = (uintptr_t)start};
    return frame;
#endif
}

void by_frames(void)
{
    char *stack = map_stack(STACK);
    switch_frames(&main_stack, prepare(stack + STACK, frames_body, NULL, begin_frames));
    unmap_stack(stack, STACK);
}

void by_jump(void)
{
    char *stack = map_stack(STACK);
    switch_bare(&main_stack, prepare(stack + STACK, jump_body, finish_bare, begin_bare));
    unmap_stack(stack, STACK);
}

void by_zero(void)
{
    char *stack = map_stack(STACK);
    /* Entered as if by a call: a word less. */
    switch_bare(&main_stack, prepare(stack + STACK - 8, NULL, NULL, zero_body));
    unmap_stack(stack, STACK);
}

/* ---- threads ---- */

void *thread_of_coroutines(void *result)
{
    used = 0;
    run_on_mapped_stack(thread_body);
    *(double *)result = used;
    return NULL;
}

void short_leaf(void)
{
    for (int i = 0; i < 3; i++) {
        work_a_little();
    }
}

void short_body(void)
{
    volatile char deep[9000];
    deep[0] = deep[8999] = 1;
    short_leaf();
    burn_sink += (unsigned long)deep[0];
}

void *thread_of_short_lives(void *result)
{
    struct burn b = burn_for(2 * MS);
    for (size_t i = 0; burn_on(&b); i++) {
        size_t size = (size_t)(16 + i * 37 % 240) * 1024 / PAGE * PAGE;
        char *stack = map_stack(size);
        run_by_context(stack, size, short_body);
        unmap_stack(stack, size);
    }
    *(double *)result = burn_used(&b);
    return NULL;
}

static void run_thread(void *entry(void *), unsigned count, const char *name)
{
    pthread_t threads[2];
    double results[2] = {0};
    for (unsigned i = 0; i < count; i++) {
        pthread_create(&threads[i], NULL, entry, &results[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    report(name, results[0] + results[1]);
}

static void run(void function(void), const char *name)
{
    used = 0;
    function();
    report(name, used);
}

int main(void)
{
    run(by_context, "context_body");
    run(by_malloc, "malloc_body");
    run(by_nesting, "outer_body");
    run(by_frames, "frames_body");
    run(by_jump, "jump_body");
    run(by_zero, "zero_body");
    run_thread(thread_of_coroutines, 1, "thread_body");
    run_thread(thread_of_short_lives, 2, "short_body");
    /* As the address of a call that returned there, and as it is. */
    printf("__start_context %#jx %#jx\n", (uintmax_t)start_context - 1, (uintmax_t)start_context);
    return 0;
}
