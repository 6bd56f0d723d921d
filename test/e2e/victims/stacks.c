/* SPDX-License-Identifier: MIT
 *
 * stacks.c WAY: works on stacks that are full, foreign, crooked, or gone the next moment. Each way
 * burns CPU where it is worst, and ends with status 42, or by the signal that it says.
 */
#include "burn.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

enum { STATUS = 42, PAGE = 4096, KIB = 1024, MIB = 1024 * 1024 };

static char *map_pages(size_t size, int flags)
{
    char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (memory == MAP_FAILED) {
        exit(77);
    }
    return memory;
}

/* ---- stacks that overflow ---- */

static volatile int always = 1;

int recurse_for_ever(int n)
{
    volatile char frame[200];
    frame[0] = (char)n;
    return always ? recurse_for_ever(n + 1) + frame[0] : 0;
}

/* Without call-frame information: all that is known of it is where SP points to. */
__asm__(".text\n"
        "dig_without_cfi:\n"
#if defined(__x86_64__)
        "1: sub $1024, %rsp\n"
        "movq $0, (%rsp)\n"
        "jmp 1b\n"
#elif defined(__aarch64__)
        "1: sub sp, sp, #1024\n"
        "str xzr, [sp]\n"
        "b 1b\n"
#endif
);
void dig_without_cfi(void);

static double fault_ms = 60;

void handle_fault(int number)
{
    (void)number;
    burn_ms(fault_ms);
    _exit(STATUS);
}

static sigjmp_buf before_overflow;

void leave_fault(int number)
{
    (void)number;
    burn_ms(1);
    siglongjmp(before_overflow, 1);
}

void overflow_in_handler(int number)
{
    (void)number;
    recurse_for_ever(0);
}

static void handle_on_alternate_stack(void (*handler)(int), size_t size)
{
    const size_t guard = 64 * KIB; /* at least a page */
    char *memory = map_pages(guard + size, 0);
    const stack_t alternate = {.ss_sp = memory + guard, .ss_size = size};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    /* Below it, as below a stack of libc's, memory faults; a stack that overflows would go on into that of others. */
    mprotect(memory, guard, PROT_NONE);
    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
}

static void overflow_by_default(void)
{
    burn_ms(20);
    recurse_for_ever(0);
}

static void overflow_handled(void)
{
    fault_ms = 200;
    handle_on_alternate_stack(handle_fault, 64 * KIB);
    recurse_for_ever(0);
}

static void overflow_handled_on_a_small_stack(void)
{
    handle_on_alternate_stack(handle_fault, 8 * KIB);
    recurse_for_ever(0);
}

static void overflow_without_cfi(void)
{
    handle_on_alternate_stack(handle_fault, 64 * KIB);
    dig_without_cfi();
}

static void overflow_of_both_stacks(void)
{
    handle_on_alternate_stack(overflow_in_handler, 64 * KIB);
    recurse_for_ever(0);
}

/* A bounded number of times, as an interpreter does that turns overflows into exceptions. */
static void overflow_and_go_on(void)
{
    volatile int left = 100;
    handle_on_alternate_stack(leave_fault, 64 * KIB);
    if (sigsetjmp(before_overflow, 1) != 0) {
        left--;
    }
    if (left > 50) {
        recurse_for_ever(0);
    } else if (left > 0) {
        dig_without_cfi();
    }
}

static void overflow_under_a_lower_limit(void)
{
    const struct rlimit lower = {512 * KIB, 512 * KIB};
    setrlimit(RLIMIT_STACK, &lower);
    overflow_without_cfi();
}

static void *overflow_entry(void *unused)
{
    overflow_without_cfi();
    return unused;
}

static void on_thread(void *(*entry)(void *), char *memory, size_t size)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if ((memory != NULL && pthread_attr_setstack(&attributes, memory, size) != 0) ||
        pthread_create(&thread, &attributes, entry, NULL) != 0) {
        exit(77);
    }
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void overflow_of_a_thread(void)
{
    on_thread(overflow_entry, NULL, 0);
}

/* The program's own memory with a guard of its own. */
static void overflow_of_own_memory(void)
{
    char *memory = map_pages(256 * KIB, 0);
    mprotect(memory, 32 * KIB, PROT_NONE);
    on_thread(overflow_entry, memory, 256 * KIB);
}

/* ---- stacks that grow ---- */

int recurse_and_burn(int depth)
{
    volatile char frame[4000];
    frame[depth % 4000] = 1;
    if (depth == 0) {
        burn_ms(150);
        return 0;
    }
    return recurse_and_burn(depth - 1) + frame[0];
}

/* Deeper than any usual limit: run it without one. */
static void deep(void)
{
    burn_sink += (unsigned long)recurse_and_burn(20000);
}

static void raised_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max < 64 * MIB ? limit.rlim_max : 64 * MIB;
    setrlimit(RLIMIT_STACK, &limit);
    burn_sink += (unsigned long)recurse_and_burn(limit.rlim_cur >= 32 * MIB ? 7000 : 100);
}

/* ---- other stacks ---- */

static ucontext_t outside, inside;

static void burn_inside(void)
{
    burn_sink += (unsigned long)recurse_and_burn(20);
}

static void run_on(char *memory, size_t size)
{
    getcontext(&inside);
    inside.uc_stack.ss_sp = memory;
    inside.uc_stack.ss_size = size;
    inside.uc_link = &outside;
    makecontext(&inside, burn_inside, 0);
    swapcontext(&outside, &inside);
}

/* With room below: in a hole between two libraries it could not grow. The kernel keeps
 * others away. */
static void grows_down(void)
{
    size_t room = 16 * MIB;
    char *place = map_pages(room, 0) + room - 64 * KIB;
    munmap(place - (room - 64 * KIB), room);
    char *memory =
        mmap(place, 64 * KIB, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_STACK | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != place)
        exit(77);
    run_on(memory, 64 * KIB);
}

static void *burn_entry(void *unused)
{
    burn_ms(2);
    return unused;
}

/* The same addresses, each time another size, and nothing there in between. */
static void reused_memory(void)
{
    size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN) + 32 * KIB; /* 128 KiB on aarch64 */
    for (size_t i = 0; i < 60; i++) {
        size_t size = least + (i % 7) * 8 * KIB;
        char *memory = map_pages(size, 0);
        on_thread(burn_entry, memory, size);
        munmap(memory, size);
    }
}

static void burn_briefly(void)
{
    burn_ms(2);
}

static void coroutines_that_go(void)
{
    for (size_t i = 0; i < 60; i++) {
        size_t size = 16 * KIB + (i % 5) * PAGE;
        char *memory = map_pages(size, 0);
        getcontext(&inside);
        inside.uc_stack.ss_sp = memory;
        inside.uc_stack.ss_size = size;
        inside.uc_link = &outside;
        makecontext(&inside, burn_briefly, 0);
        swapcontext(&outside, &inside);
        munmap(memory, size);
    }
}

/* ---- crooked registers ---- */

/* Counts down with the given stack and frame pointer, in code that no unwinder knows anything of. */
__asm__(".text\n"
        ".type spin_with, @function\n"
        "spin_with:\n"
#if defined(__x86_64__)
        "push %rbp\n"
        "push %rbx\n"
        "mov %rsp, %rbx\n"
        "mov %rsi, %rsp\n"
        "mov %rdx, %rbp\n"
        "1: dec %rdi\n"
        "jnz 1b\n"
        "mov %rbx, %rsp\n"
        "pop %rbx\n"
        "pop %rbp\n"
#elif defined(__aarch64__)
        "stp x29, x30, [sp, #-32]!\n"
        "str x19, [sp, #16]\n"
        "mov x19, sp\n"
        "mov sp, x1\n"
        "mov x29, x2\n"
        "1: subs x0, x0, #1\n"
        "b.ne 1b\n"
        "mov sp, x19\n"
        "ldr x19, [sp, #16]\n"
        "ldp x29, x30, [sp], #32\n"
#endif
        "ret\n");
void spin_with(long rounds, void *sp, const void *fp);

enum { ROUNDS = 1000 * 1000, SPINS = 200 };

static void spin(void *sp, const void *fp)
{
    for (int i = 0; i < SPINS; i++) {
        spin_with(ROUNDS, sp, fp);
    }
}

static void odd_stack_pointer(void)
{
    char *memory = map_pages(64 * KIB, 0);
    for (int odd = 1; odd < 8; odd++) {
        spin_with(20 * ROUNDS, memory + 48 * KIB + odd, memory + 50 * KIB + odd);
    }
}

/* The very end of what is mapped: a walk finds nothing at SP. */
static void stack_pointer_at_the_top(void)
{
    char *memory = map_pages(80 * KIB, 0);
    munmap(memory + 64 * KIB, 16 * KIB);
    spin(memory + 64 * KIB, memory + 64 * KIB - 8);
}

static void holes_in_the_stack(void)
{
    char *memory = map_pages(128 * KIB, 0);
    uintptr_t *frame = (uintptr_t *)(void *)(memory + 64 * KIB - 16);
    frame[0] = (uintptr_t)(memory + 64 * KIB + 8); /* across the forbidden page's edge */
    frame[1] = (uintptr_t)holes_in_the_stack;
    mprotect(memory + 64 * KIB, PAGE, PROT_NONE);
    spin(memory + 48 * KIB, frame);
}

/* Frame pointers in a ring. */
static void ring(void)
{
    char *memory = map_pages(64 * KIB, 0);
    uintptr_t *words = (uintptr_t *)(void *)(memory + 32 * KIB);
    for (size_t i = 0; i < 2048; i += 2) {
        words[i] = (uintptr_t)&words[(i * 7 + 2) % 2048];
        words[i + 1] = (uintptr_t)ring + 1;
    }
    spin(memory + 32 * KIB - 64, words);
}

static void frame_pointer_to_nowhere(void)
{
    static const uintptr_t nowhere[] = {1, 8, 0x7ffffffff000, 0x800000000000, UINTPTR_MAX - 7};
    char *memory = map_pages(64 * KIB, 0);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        spin_with(40 * ROUNDS, memory + 32 * KIB, (const void *)nowhere[i]);
    }
}

/* ---- memory that another thread takes away ---- */

static char *changing;
static bool over;

void *change_pages(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        munmap(changing, 4 * PAGE);
        mmap(changing, 4 * PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);
        mprotect(changing, 4 * PAGE, PROT_NONE);
    }
    return unused;
}

/* rbp is a pointer into a buffer that is not this thread's. */
static void frame_pointer_to_memory_that_goes(void)
{
    pthread_t thread;
    char *memory = map_pages(64 * KIB, 0);
    changing = memory + 40 * KIB;
    if (pthread_create(&thread, NULL, change_pages, NULL) != 0) {
        exit(77);
    }
    struct burn b = burn_for(250);
    while (burn_on(&b)) {
        spin_with(ROUNDS, memory + 32 * KIB, changing + 16);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

static const struct {
    const char *name;
    void (*act)(void);
} ways[] = {
    {"overflow-default", overflow_by_default},
    {"overflow-handled", overflow_handled},
    {"overflow-small", overflow_handled_on_a_small_stack},
    {"overflow-no-cfi", overflow_without_cfi},
    {"overflow-both", overflow_of_both_stacks},
    {"overflow-go-on", overflow_and_go_on},
    {"overflow-lower-limit", overflow_under_a_lower_limit},
    {"overflow-thread", overflow_of_a_thread},
    {"overflow-own-memory", overflow_of_own_memory},
    {"deep", deep},
    {"raised-limit", raised_limit},
    {"grows-down", grows_down},
    {"reused-memory", reused_memory},
    {"coroutines-that-go", coroutines_that_go},
    {"odd", odd_stack_pointer},
    {"top", stack_pointer_at_the_top},
    {"holes", holes_in_the_stack},
    {"ring", ring},
    {"nowhere", frame_pointer_to_nowhere},
    {"memory-that-goes", frame_pointer_to_memory_that_goes},
};

int main(int argc, char **argv)
{
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (argc > 1 && strcmp(ways[i].name, argv[1]) == 0) {
            ways[i].act();
            return STATUS;
        }
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        puts(ways[i].name);
    }
    return argc > 1 ? 1 : 0;
}
