/* SPDX-License-Identifier: MIT
 *
 * odd_coroutines.c WAY STACK ALTERNATE [THREADS]: 48 coroutines on stacks of STACK bytes, with a
 * guard page below each, that switch to and fro while they compute and allocate. Each thread has an
 * alternate signal stack of ALTERNATE bytes (0: none). Prints a sum that is the same in every run.
 *
 *   context   swapcontext, each with its own signal mask
 *   jump      sigsetjmp and siglongjmp. A stack is entered by a signal: its handler runs there as
 *             on an alternate stack, saves its place and returns (the way of GNU Pth)
 *   bare      a switch in assembler, which the kernel does not see and no CFI describes
 *   proto     protothreads: functions that return at each wait and continue by a switch. Their
 *             scheduler is entered once for each stack, through swapcontext
 *   room      prints how large a stack has to be for a signal: STACK and ALTERNATE are not looked
 *             at
 *
 * A signal that is caught on a stack takes what the kernel saves, and then what the handler needs.
 * Where neither the stack nor the alternate one has as much, no program can take a signal: "room"
 * says what that is here.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    COROUTINES = 48,
    ROUNDS = 80,  /* switches of each */
    STEPS = 4000, /* of work between two of them */
    PAGE = 4096,
    HANDLER = 2048,  /* what a small handler needs beside the kernel's frame */
    OWN = 1536,      /* what a coroutine here needs itself */
    ALLOCATION = 300 /* bytes */
};

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

struct scheduler;

struct coroutine {
    struct scheduler *of;
    char *stack; /* above the guard page */
    uint64_t sum;
    uint32_t number;
    uint32_t round; /* of a protothread */
    int line;       /* where a protothread goes on */
    int done;
    ucontext_t context;
    sigjmp_buf place;
    void *saved; /* the stack pointer */
};

struct scheduler {
    ucontext_t context;
    sigjmp_buf place;
    void *saved;
    struct coroutine all[COROUTINES];
};

static size_t stack_size;
static size_t alternate_size;
static void (*switch_to_scheduler)(struct coroutine *self);

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- what they do ---- */

/* A few frames deep, a few hundred bytes. */
static uint64_t compute(uint64_t value, unsigned depth)
{
    volatile uint64_t here = value;
    if (depth > 0) {
        here = compute(here + depth, depth - 1);
    }
    for (unsigned i = 0; i < STEPS / 8; i++) {
        here = here * 6364136223846793005u + 1442695040888963407u;
    }
    return here;
}

static void step(struct coroutine *self, uint32_t round)
{
    char *block = malloc(ALLOCATION + round % 64 * 16);
    block[0] = (char)self->number;
    self->sum += compute(self->number + round + (unsigned char)block[0], 7);
    free(block);
}

static void body(struct coroutine *self)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        step(self, round);
        switch_to_scheduler(self);
    }
    self->done = 1;
    switch_to_scheduler(self);
}

static char *map_stack(void)
{
    char *memory = mmap(NULL, PAGE + stack_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, PAGE, PROT_NONE) != 0) {
        fail("mmap");
    }
    return memory + PAGE;
}

/* ---- context ---- */

static void leave_context(struct coroutine *self)
{
    swapcontext(&self->context, &self->of->context);
}

static void enter_context(struct coroutine *to)
{
    swapcontext(&to->of->context, &to->context);
}

static void start_of_context(unsigned high, unsigned low)
{
    body((void *)((uintptr_t)high << 32 | low));
}

static void prepare_context_for(struct coroutine *new, void (*start)(unsigned, unsigned))
{
    uintptr_t self = (uintptr_t) new;
    getcontext(&new->context);
    new->context.uc_stack.ss_sp = new->stack;
    new->context.uc_stack.ss_size = stack_size;
    new->context.uc_link = &new->of->context;
    makecontext(&new->context, (void (*)(void))start, 2, (unsigned)(self >> 32), (unsigned)self);
}

static void prepare_context(struct coroutine *new)
{
    prepare_context_for(new, start_of_context);
}

/* ---- jump ---- */

static void leave_jump(struct coroutine *self)
{
    if (sigsetjmp(self->place, 0) == 0) {
        siglongjmp(self->of->place, 1);
    }
}

static __thread struct coroutine *entering;

static void enter_jump(struct coroutine *to)
{
    entering = to;
    if (sigsetjmp(to->of->place, 0) == 0) {
        siglongjmp(to->place, 1);
    }
}

__attribute__((noinline)) static void begin_body(void)
{
    body(entering);
}

/* On the new stack, which the kernel believes to be an alternate one until prepare_jump() says otherwise. What its
 * frame had is gone when it is entered again, as another signal may have come there: GNU Pth does not need it either. */
static void on_new_stack(int number)
{
    (void)number;
    if (sigsetjmp(entering->place, 0) != 0) {
        begin_body();
    }
}

static void prepare_jump(struct coroutine *new)
{
    stack_t old;
    stack_t there = {.ss_sp = new->stack, .ss_size = stack_size};
    if (sigaltstack(&there, &old) != 0) {
        fail("sigaltstack");
    }
    entering = new;
    pthread_kill(pthread_self(), SIGUSR1);
    if (sigaltstack(&old, NULL) != 0) {
        fail("sigaltstack");
    }
}

/* ---- bare ---- */

#if defined(__aarch64__)
#include "aarch64_switch.h"
#define NOTHING(text) ""
#endif

void odd_switch(void **save, void *to);
__asm__(".text\n.type odd_switch, @function\nodd_switch:\n"
#if defined(__x86_64__)
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
#elif defined(__aarch64__)
        SWITCH_BODY(NOTHING)
#endif
        ".size odd_switch, .-odd_switch\n");
/* GNU ld gives local symbols of a section one place in the GOT of aarch64. */
__attribute__((visibility("hidden"))) void odd_start(void);
__asm__(".text\n.globl odd_start\n.hidden odd_start\n.type odd_start, @function\nodd_start:\n"
#if defined(__x86_64__)
        "mov %r12, %rdi\ncall *%r13\nud2\n"
#elif defined(__aarch64__)
        "mov x0, x19\nblr x20\nudf #0\n"
#endif
        ".size odd_start, .-odd_start\n");

static void leave_bare(struct coroutine *self)
{
    odd_switch(&self->saved, self->of->saved);
}

static void enter_bare(struct coroutine *to)
{
    odd_switch(&to->of->saved, to->saved);
}

static void prepare_bare(struct coroutine *new)
{
#if defined(__x86_64__)
    uintptr_t *top = (uintptr_t *)(new->stack + stack_size);
    *--top = 0;
    *--top = 0;
    *--top = (uintptr_t)odd_start;
    *--top = 0;               /* rbp */
    *--top = 0;               /* rbx */
    *--top = (uintptr_t) new; /* r12 */
    *--top = (uintptr_t)body; /* r13 */
    *--top = 0;
    *--top = 0;
    new->saved = top;
#elif defined(__aarch64__)
    struct switch_frame *frame = (struct switch_frame *)(new->stack + stack_size) - 1;
    *frame = (struct switch_frame){.x19_to_x28 = {(uintptr_t) new, (uintptr_t)body},
                                   .go_to = (uintptr_t)odd_start};
    new->saved = frame;
#endif
}

/* ---- proto ---- */

/* Returns 1 at the end. All of its state is in *self. */
static int protothread(struct coroutine *self)
{
    switch (self->line) {
    case 0:
        for (self->round = 0; self->round < ROUNDS; self->round++) {
            step(self, self->round);
            self->line = 1;
            return 0;
        case 1:;
        }
    }
    return 1;
}

static void start_of_proto(unsigned high, unsigned low)
{
    struct coroutine *self = (void *)((uintptr_t)high << 32 | low);
    while (!protothread(self)) {
        leave_context(self);
    }
    self->done = 1;
}

static void prepare_proto(struct coroutine *new)
{
    prepare_context_for(new, start_of_proto);
}

/* ---- running them ---- */

static const struct way {
    const char *name;
    void (*prepare)(struct coroutine *new);
    void (*enter)(struct coroutine *to);
    void (*leave)(struct coroutine *self);
} ways[] = {
    {"context", prepare_context, enter_context, leave_context},
    {"jump", prepare_jump, enter_jump, leave_jump},
    {"bare", prepare_bare, enter_bare, leave_bare},
    {"proto", prepare_proto, enter_context, leave_context},
};
static const struct way *way;

static char *alternate_on(void)
{
    stack_t alternate = {.ss_size = alternate_size};
    if (alternate_size == 0) {
        return NULL;
    }
    alternate.ss_sp = malloc(alternate_size);
    if (sigaltstack(&alternate, NULL) != 0) {
        fail("sigaltstack");
    }
    return alternate.ss_sp;
}

static void alternate_off(char *memory)
{
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    free(memory);
}

/* noinline: what lives across the jumps is in memory. */
__attribute__((noinline)) static int one_round(struct scheduler *scheduler)
{
    int alive = 0;
    for (volatile int i = 0; i < COROUTINES; i++) {
        if (!scheduler->all[i].done) {
            way->enter(&scheduler->all[i]);
            alive++;
        }
    }
    return alive;
}

static void *run_coroutines(void *result)
{
    struct scheduler *scheduler = calloc(1, sizeof *scheduler);
    char *alternate = alternate_on();
    for (uint32_t i = 0; i < COROUTINES; i++) {
        struct coroutine *new = &scheduler->all[i];
        new->of = scheduler;
        new->number = i;
        new->stack = map_stack();
        way->prepare(new);
    }
    while (one_round(scheduler) > 0) {
    }
    for (int i = 0; i < COROUTINES; i++) {
        *(uint64_t *)result += scheduler->all[i].sum;
        munmap(scheduler->all[i].stack - PAGE, PAGE + stack_size);
    }
    alternate_off(alternate);
    free(scheduler);
    return NULL;
}

/* ---- room ---- */

/* The size of the smallest alternate stack that the kernel takes. */
static size_t least_alternate(void)
{
    static char memory[65536];
    stack_t alternate = {.ss_sp = memory, .ss_size = 2048};
    while (sigaltstack(&alternate, NULL) != 0) {
        alternate.ss_size += 1024;
    }
    return alternate.ss_size;
}

static void print_room(void)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    if (frame == 0) {
        frame = 2048;
    }
    printf("alternate %zu\nstack %zu\nleast %zu\n", frame + HANDLER, frame + HANDLER + OWN,
           least_alternate());
}

int main(int argc, char **argv)
{
    uint64_t sums[8] = {0};
    pthread_t threads[8];
    long count = argc > 4 ? atol(argv[4]) : 0;
    struct sigaction action = {.sa_handler = on_new_stack, .sa_flags = SA_ONSTACK};
    if (argc > 1 && strcmp(argv[1], "room") == 0) {
        print_room();
        return 0;
    }
    for (size_t i = 0; argc > 3 && i < sizeof ways / sizeof *ways; i++) {
        way = strcmp(ways[i].name, argv[1]) == 0 ? &ways[i] : way;
    }
    if (way == NULL || count < 0 || count > 7) {
        return 99;
    }
    stack_size = (size_t)atol(argv[2]);
    alternate_size = (size_t)atol(argv[3]);
    switch_to_scheduler = way->leave;
    sigaction(SIGUSR1, &action, NULL);
    for (long i = 0; i < count; i++) {
        pthread_create(&threads[i], NULL, run_coroutines, &sums[i]);
    }
    run_coroutines(&sums[7]);
    for (long i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        printf("%llu\n", (unsigned long long)sums[i]);
    }
    printf("%llu\n", (unsigned long long)sums[7]);
    return 42;
}
