/* SPDX-License-Identifier: MIT
 *
 * test_walk_overflow.c: a stack is full, its owner handles SIGSEGV on an alternate stack, and there
 * a signal of ours strikes: the walk goes from the alternate stack to the full one, whose SP lies
 * where nothing can be read.
 *
 * Each way is a child process, since a fault in the walk is the end of it:
 *
 *   SIGSEGV handler -> raise -> handler: walk -> [signal frame] -> code that overflowed -> ...
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/modules.h"
#include "unwind/walk.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    DEPTH = 1024,
    STACK_BYTES = 64 * PAGE,
    GUARD_BYTES = 8 * PAGE,
    ALTERNATE_BYTES = 16 * PAGE,
    LOW_LIMIT_BYTES = 256 * 1024,
    WALKED = 42, /* the child's status: it saw what it should */
    WRONG = 43   /* the walk came back, with something else */
};

/* Functions that use up the stack: without call-frame information, so that a walk can only look at
 * what SP points to, and with it. */
__asm__(".text\n.p2align 4\n"
        "dig_without_cfi:\n"
        "1: sub $1024, %rsp\n"
        "movq $0, (%rsp)\n"
        "jmp 1b\n"
        ".p2align 4\n"
        "push_without_cfi:\n"
        "1: push %rsp\n"
        "jmp 1b\n");
extern void dig_without_cfi(void);
extern void push_without_cfi(void);

static volatile int always = 1;

__attribute__((noinline)) static int recurse(int n)
{
    volatile char frame[200];
    frame[0] = (char)n;
    return always ? recurse(n + 1) + frame[0] : 0;
}

static void recurse_with_cfi(void)
{
    recurse(0);
}

static void (*overflow)(void);
static uintptr_t faulted_at;

static void walk_here(int number, siginfo_t *info, void *context)
{
    static uintptr_t pcs[DEPTH];
    static pp_walk_space space;
    pp_walk walk = {.pcs = pcs, .space = &space, .capacity = DEPTH};
    (void)number;
    (void)info;
    pp_walk_from_context(context, &walk);
    for (uint32_t i = 0; i < walk.depth; i++) {
        if (pcs[i] == faulted_at + 1)
            _exit(WALKED);
    }
    _exit(WRONG);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (faulted_at != 0)
        _exit(WRONG); /* the second one is the walk's */
    faulted_at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    raise(SIGUSR1);
}

static void prepare_handlers(void)
{
    struct sigaction fault = {.sa_sigaction = on_fault,
                              .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct sigaction walk = {.sa_sigaction = walk_here, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &fault, NULL);
    sigaction(SIGUSR1, &walk, NULL);
}

static void prepare_alternate_stack(void)
{
    stack_t alternate = {.ss_size = ALTERNATE_BYTES};
    alternate.ss_sp =
        mmap(NULL, ALTERNATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&alternate, NULL);
}

static void *overflow_here(void *unused)
{
    prepare_alternate_stack();
    overflow();
    return unused;
}

/* ---- stacks ---- */

static void on_main(void)
{
    overflow_here(NULL);
}

/* The limit was larger when the stack's bounds were learnt. */
static void on_main_with_a_lower_limit(void)
{
    const struct rlimit limit = {LOW_LIMIT_BYTES, LOW_LIMIT_BYTES};
    setrlimit(RLIMIT_STACK, &limit);
    overflow_here(NULL);
}

static void on_thread(const pthread_attr_t *attributes)
{
    pthread_t thread;
    if (pthread_create(&thread, attributes, overflow_here, NULL) == 0)
        pthread_join(thread, NULL);
}

static void on_usual_thread(void)
{
    on_thread(NULL);
}

static void on_thread_with_a_large_guard(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setguardsize(&attributes, 64 * PAGE);
    on_thread(&attributes);
}

/* The program brings its own memory, and has its own guard in it. */
static void on_own_memory(void)
{
    pthread_attr_t attributes;
    char *memory =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, GUARD_BYTES, PROT_NONE);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, STACK_BYTES);
    on_thread(&attributes);
}

/* Runtimes forbid pages at the low end of stacks that libc has made. */
static void *forbid_pages_and_overflow(void *unused)
{
    pthread_attr_t attributes;
    void *memory = NULL;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &memory, &size);
    mprotect(memory, GUARD_BYTES, PROT_NONE);
    return overflow_here(unused);
}

static void on_thread_that_forbids_pages(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, forbid_pages_and_overflow, NULL) == 0)
        pthread_join(thread, NULL);
}

/* ---- children ---- */

static void expect_walked(void (*stack)(void))
{
    static void (*const ways[])(void) = {recurse_with_cfi, dig_without_cfi, push_without_cfi};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            const struct rlimit no_core = {0, 0};
            setrlimit(RLIMIT_CORE, &no_core);
            prepare_handlers();
            overflow = ways[i];
            stack();
            _exit(1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != WALKED)
            print_message("way %zu: status 0x%x\n", i, (unsigned)status);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), WALKED);
    }
}

#define WAY(name)                                                                                  \
    static void name##_is_walked(void **state)                                                     \
    {                                                                                              \
        (void)state;                                                                               \
        expect_walked(name);                                                                       \
    }
WAY(on_main)
WAY(on_main_with_a_lower_limit)
WAY(on_usual_thread)
WAY(on_thread_with_a_large_guard)
WAY(on_own_memory)
WAY(on_thread_that_forbids_pages)

static int start(void **state)
{
    (void)state;
    pp_modules_refresh();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_main_is_walked),
        cmocka_unit_test(on_main_with_a_lower_limit_is_walked),
        cmocka_unit_test(on_usual_thread_is_walked),
        cmocka_unit_test(on_thread_with_a_large_guard_is_walked),
        cmocka_unit_test(on_own_memory_is_walked),
        cmocka_unit_test(on_thread_that_forbids_pages_is_walked),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
