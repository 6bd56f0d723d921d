/* SPDX-License-Identifier: MIT
 *
 * alternate_stacks.c WAY: threads with alternate signal stacks of all sizes, each of which works
 * for 300 ms. Exit status 42.
 *
 *   small       too small for any signal where there is AVX-512 (MINSIGSTKSZ), set up through libc
 *   tight       has room for the kernel's frame and little more, set up past libc
 *   large       as programs have them
 *   changing    small, off, small, large
 *   coroutines  the thread's own stack is left for stacks of 4 KiB: signals must come to the
 *               alternate one
 *   runs-on     the thread works in a handler on its alternate stack
 *   cancelled   threads are cancelled, which libc does on the stack that they are on: not a byte
 *               below the alternate one is touched. Where cancelling is deferred libc's handler
 *               comes back
 */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    STATUS = 42,
    WORK_MS = 300,
    SMALL = 2048,
    LARGE = 64 * 1024,
    COROUTINE = 4096,
    COROUTINES = 8,
    SLICE_MS = 5,
    TIGHT_REST = 700,
    MORE = 1000,
    FILL = 0x5a,
    SENT = 50,
#ifdef __GLIBC__
    CANCEL_SIGNAL = 32, /* libc's */
#else
    CANCEL_SIGNAL = 33, /* musl's */
#endif
    NUMBERS = 8
};

static _Alignas(4096) char memory[LARGE];
static size_t frame_bytes;

void work(void)
{
    burn_ms(WORK_MS);
}

static int set(size_t size, int flags)
{
    stack_t stack = {.ss_sp = memory, .ss_size = size, .ss_flags = flags};
    return sigaltstack(&stack, NULL);
}

static void measure_frame(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    frame_bytes = (size_t)(memory + sizeof memory - (char *)context) + sizeof(void *);
}

static void *work_small(void *unused)
{
    set(SMALL, 0);
    work();
    set(LARGE, SS_DISABLE);
    return unused;
}

static void *work_tight(void *unused)
{
    struct sigaction action = {.sa_sigaction = measure_frame, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    set(LARGE, 0);
    raise(SIGUSR1);
    stack_t stack = {.ss_sp = memory, .ss_size = frame_bytes + TIGHT_REST};
    syscall(SYS_sigaltstack, &stack, NULL);
    work();
    return unused;
}

static void *work_large(void *unused)
{
    set(LARGE, 0);
    work();
    return unused;
}

static void *work_changing(void *unused)
{
    for (int i = 0; i < WORK_MS / 4 / SLICE_MS; i++) {
        set(SMALL, 0);
        burn_ms(SLICE_MS);
        set(LARGE, SS_DISABLE);
        burn_ms(SLICE_MS);
        set(SMALL, 0);
        set(SMALL, 0);
        burn_ms(SLICE_MS);
        set(LARGE, 0);
        burn_ms(SLICE_MS);
    }
    return unused;
}

/* ---- coroutines ---- */

static ucontext_t scheduler, coroutines[COROUTINES];
static int running;

/* Nothing that needs much of a stack. */
void spin_in_coroutine(void)
{
    for (;;) {
        for (int i = 0; i < 100; i++) {
            work_a_little();
        }
        swapcontext(&coroutines[running], &scheduler);
    }
}

static void *work_in_coroutines(void *unused)
{
    set(LARGE, 0);
    for (int i = 0; i < COROUTINES; i++) {
        char *stack = mmap(NULL, (size_t)COROUTINE * 2, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(stack, COROUTINE, PROT_NONE);
        getcontext(&coroutines[i]);
        coroutines[i].uc_stack.ss_sp = stack + COROUTINE;
        coroutines[i].uc_stack.ss_size = COROUTINE;
        makecontext(&coroutines[i], spin_in_coroutine, 0);
    }
    struct burn b = burn_for(WORK_MS);
    while (burn_on(&b)) {
        running = (running + 1) % COROUTINES;
        swapcontext(&scheduler, &coroutines[running]);
    }
    burn_end(&b); /* a turn takes 20 ms on a slow machine */
    return unused;
}

/* ---- in a handler ---- */

static void handler(int number)
{
    (void)number;
    work();
}

static void *work_on_it(void *unused)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    set(LARGE, 0);
    raise(SIGUSR1);
    return unused;
}

/* ---- cancelled ---- */

static volatile int computing, deferred;
static size_t stack_bytes;

/* Registers of all kinds have something in them that must be there afterwards. */
static void count_for_ever(void)
{
    double numbers[NUMBERS] = {0};
    computing = 1;
    while (deferred != 2) {
        for (int i = 0; i < NUMBERS; i++) {
            numbers[i] += i;
        }
        for (int i = 2; i < NUMBERS; i++) {
            if (numbers[i] != numbers[1] * i) {
                _exit(3);
            }
        }
    }
}

static void *count_on_stack(void *unused)
{
    stack_t stack = {.ss_sp = memory + LARGE - stack_bytes, .ss_size = stack_bytes};
    sigaltstack(&stack, NULL);
    pthread_setcanceltype(deferred ? PTHREAD_CANCEL_DEFERRED : PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    count_for_ever();
    return unused;
}

static void *wait_on_stack(void *unused)
{
    stack_t stack = {.ss_sp = memory + LARGE - stack_bytes, .ss_size = stack_bytes};
    sigaltstack(&stack, NULL);
    computing = 1;
    for (;;) {
        pause();
    }
    return unused;
}

static void begin(pthread_t *thread, void *(*run)(void *))
{
    computing = 0;
    pthread_create(thread, NULL, run, NULL);
    while (!computing) {
        usleep(100);
    }
}

static void *note_tid(void *tid)
{
    *(pid_t *)tid = gettid();
    return count_on_stack(NULL);
}

/* 0: as it should be. */
static int cancel_with(size_t bytes)
{
    void *(*const runs[])(void *) = {count_on_stack, wait_on_stack, count_on_stack};
    pthread_t thread;
    void *result = NULL;
    stack_bytes = bytes;
    memset(memory, FILL, sizeof memory - bytes);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        begin(&thread, runs[i]);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        for (size_t at = 0; at < sizeof memory - bytes; at++) {
            if (memory[at] != FILL || result != PTHREAD_CANCELED) {
                return 1;
            }
        }
    }
    return 0;
}

static int send_while_deferred(void)
{
    pthread_t thread;
    pid_t tid = 0;
    void *result = &tid;
    deferred = 1;
    computing = 0;
    pthread_create(&thread, NULL, note_tid, &tid);
    while (!computing) {
        usleep(100);
    }
    for (int i = 0; i < SENT; i++) {
        syscall(SYS_tgkill, getpid(), tid, CANCEL_SIGNAL);
        usleep(100);
    }
    deferred = 2;
    pthread_join(thread, &result);
    return result != NULL;
}

static void *cancel_them(void *unused)
{
    struct sigaction action = {.sa_sigaction = measure_frame, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    set(LARGE, 0);
    raise(SIGUSR1);
    set(LARGE, SS_DISABLE);
    const size_t sizes[] = {SMALL, frame_bytes + MORE, frame_bytes + 2 * MORE, LARGE / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (cancel_with(sizes[i]) != 0) {
            _exit(2);
        }
    }
    if (send_while_deferred() != 0) {
        _exit(4);
    }
    burn_ms(SLICE_MS);
    work();
    return unused;
}

static const struct {
    const char *name;
    void *(*run)(void *);
} ways[] = {
    {"small", work_small},
    {"tight", work_tight},
    {"large", work_large},
    {"changing", work_changing},
    {"coroutines", work_in_coroutines},
    {"runs-on", work_on_it},
    {"cancelled", cancel_them},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++) {
        pthread_t thread;
        if (strcmp(ways[i].name, argv[1]) == 0 &&
            pthread_create(&thread, NULL, ways[i].run, NULL) == 0) {
            pthread_join(thread, NULL);
            return STATUS;
        }
    }
    return 99;
}
