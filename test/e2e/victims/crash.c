/* SPDX-License-Identifier: MIT
 *
 * crash.c KIND: crashes in the function crash_KIND (with _ for -), in one of many ways. "list"
 * prints their names. What does not crash prints "goes on" and ends with status 0.
 *
 * Flags: -fno-stack-clash-protection -Wno-infinite-recursion -Wno-array-bounds
 */
#include "bare_call.h"
#include "burn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define CRASH __attribute__((noinline)) static void

#if defined(__x86_64__)
#define ILLEGAL         "ud2"
#define PRIVILEGED      "hlt"
#define PUSH_ON_NOTHING "xor %%esp, %%esp\n\tpush %%rax"
#elif defined(__aarch64__)
#define ILLEGAL         "udf #0"
#define PRIVILEGED      "msr daifset, #2"
#define PUSH_ON_NOTHING "mov x9, xzr\n\tmov sp, x9\n\tstr x0, [sp, #-16]!"
#endif

static int *volatile nowhere;
static volatile int zero, sum;

/* Keeps a function's frame: its last call is a call. */
static void stay(void)
{
    __asm__ volatile("" ::: "memory");
}

/* ---- memory ---- */

CRASH crash_null_read(void)
{
    sum = *nowhere;
}

CRASH crash_null_write(void)
{
    *nowhere = 1;
}

CRASH crash_null_call(void)
{
    void (*volatile function)(void) = NULL;
    function();
    stay();
}

CRASH crash_wild_call(void)
{
    void (*volatile function)(void) = (void (*)(void))0x123456789000;
    function();
    stay();
}

CRASH crash_data_call(void)
{
    static char data[64];
    void (*volatile function)(void) = (void (*)(void))(uintptr_t)data;
    function();
    stay();
}

CRASH crash_no_address(void)
{
    sum = *(int *volatile)UINT64_C(0x8000000000000000);
}

CRASH crash_read_only(void)
{
    char *text = (char *)(uintptr_t) "constant";
    *(volatile char *)text = 'C';
}

CRASH crash_bus(void)
{
    FILE *file = tmpfile();
    char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    sum = *(volatile char *)bytes;
}

/* ---- instructions ---- */

CRASH crash_division(void)
{
    sum = 1234567 / zero;
}

CRASH crash_float(void)
{
    volatile double none = 0;
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() & ~(unsigned)_MM_MASK_DIV_ZERO);
#endif
    sum = (int)(1 / none);
}

CRASH crash_illegal(void)
{
    __asm__ volatile(ILLEGAL);
}

CRASH crash_privileged(void)
{
    __asm__ volatile(PRIVILEGED);
}

/* ---- aborts ---- */

CRASH crash_abort(void)
{
    abort();
}

CRASH crash_assert(void)
{
    extern void __assert_fail(const char *, const char *, unsigned, const char *);
    __assert_fail("false", "crash.c", 1, "crash_assert");
}

CRASH crash_double_free(void)
{
    void *volatile block = malloc(100);
    free(block);
    free(block);
    stay();
}

/* The allocator crashes or aborts with its lock held. */
CRASH crash_heap(void)
{
    uintptr_t *volatile blocks[16];
    for (int i = 0; i < 16; i++) {
        blocks[i] = malloc(2000);
    }
    free(blocks[3]);
    for (int i = 0; i < 16; i++) {
        memset(blocks[i] - 1, 0x5a, 2008);
    }
    for (int i = 0; i < 16; i++) {
        free(blocks[i]);
    }
    stay();
}

CRASH crash_smashed(void)
{
    volatile char small[8];
    for (int i = 0; i < 64; i++) {
        ((volatile char *)small)[i] = 'x';
    }
}

CRASH crash_raise(void)
{
    raise(SIGSEGV);
    stay();
}

CRASH crash_kill(void)
{
    kill(getpid(), SIGBUS);
    stay();
}

CRASH crash_queue(void)
{
    sigqueue(getpid(), SIGFPE, (union sigval){.sival_int = 42});
    stay();
}

/* ---- stacks ---- */

__attribute__((noinline)) static int crash_overflow(int depth)
{
    volatile char frame[64];
    frame[0] = (char)depth;
    return crash_overflow(depth + 1) + frame[0];
}

__attribute__((noinline)) static int crash_overflow_wide(int depth)
{
    volatile char frame[3000];
    frame[depth % 3000] = 1;
    return crash_overflow_wide(depth + 1) + frame[0];
}

CRASH crash_no_stack(void)
{
    __asm__ volatile(PUSH_ON_NOTHING ::: "memory");
}

static void overflow(void)
{
    sum = crash_overflow(0);
}

static void overflow_wide(void)
{
    sum = crash_overflow_wide(0);
}

static ucontext_t back, coroutine;

static void in_coroutine(void (*crash)(void))
{
    static char stack[64 * 1024];
    getcontext(&coroutine);
    coroutine.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
    coroutine.uc_link = &back;
    makecontext(&coroutine, crash, 0);
    swapcontext(&back, &coroutine);
}

CRASH crash_in_coroutine(void)
{
    *nowhere = 1;
}

static void coroutines(void)
{
    in_coroutine(crash_in_coroutine);
}

/* ---- threads ---- */

static void *run(void *crash)
{
    (*(void (**)(void))crash)();
    return NULL;
}

static void in_thread(void (*crash)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, &crash);
    pthread_join(thread, NULL);
}

CRASH crash_in_thread(void)
{
    *nowhere = 1;
}

static void thread(void)
{
    in_thread(crash_in_thread);
}

static void thread_overflow(void)
{
    in_thread(overflow);
}

static void *wait_for_ever(void *unused)
{
    pause();
    return unused;
}

static void *compute_for_ever(void *unused)
{
    for (;;) {
        burn_ms(1);
    }
    return unused;
}

static void start(void *(*function)(void *), int count)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    for (int i = 0; i < count; i++) {
        pthread_create(&thread, &small, function, NULL);
    }
}

CRASH crash_among_500(void)
{
    *nowhere = 1;
}

static void among_500(void)
{
    start(wait_for_ever, 500);
    crash_among_500();
}

CRASH crash_among_busy(void)
{
    *nowhere = 1;
}

static void among_busy(void)
{
    start(compute_for_ever, 4);
    crash_among_busy();
}

static pthread_barrier_t both;

CRASH crash_at_once(void)
{
    pthread_barrier_wait(&both);
    *nowhere = 1;
}

static void at_once(void)
{
    void (*crash)(void) = crash_at_once;
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, run, &crash);
    crash_at_once();
}

static uintptr_t kernels_handler(void)
{
    uintptr_t action[4] = {0};
    syscall(SYS_rt_sigaction, SIGSEGV, NULL, action, sizeof *action);
    return action[0];
}

/* Ends the process while a library handles another thread's crash, if one does. */
static void *exit_soon(void *unused)
{
    uintptr_t before = kernels_handler();
    pthread_barrier_wait(&both);
    while (kernels_handler() == before) {
    }
    exit(7);
    return unused;
}

CRASH crash_before_exit(void)
{
    pthread_barrier_wait(&both);
    *nowhere = 1;
}

static void before_exit(void)
{
    start(wait_for_ever, 50);
    pthread_barrier_init(&both, NULL, 2);
    start(exit_soon, 1);
    crash_before_exit();
}

static pid_t crashed;

/* Hits the thread that a library has dump now by another signal of a crash. */
static void *hit(void *unused)
{
    uintptr_t before = kernels_handler();
    pthread_barrier_wait(&both);
    while (kernels_handler() == before) {
    }
    syscall(SYS_tgkill, getpid(), crashed, SIGBUS);
    return unused;
}

CRASH crash_hit(void)
{
    pthread_barrier_wait(&both);
    __asm__ volatile(ILLEGAL);
}

static void hit_in_dump(void)
{
    crashed = (pid_t)syscall(SYS_gettid);
    pthread_barrier_init(&both, NULL, 2);
    start(wait_for_ever, 50);
    start(hit, 1);
    crash_hit();
}

CRASH crash_at_thread_end(void *unused)
{
    (void)unused;
    *nowhere = 1;
}

static pthread_key_t key;

static void set_key(void)
{
    pthread_setspecific(key, &key);
}

static void thread_end(void)
{
    pthread_key_create(&key, crash_at_thread_end);
    in_thread(set_key);
}

static volatile bool computes;

static void *crash_sent_to(void *unused)
{
    for (;;) {
        computes = true;
    }
    return unused;
}

static void send_to_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, crash_sent_to, NULL);
    while (!computes) {
    }
    pthread_kill(thread, SIGILL);
    pthread_join(thread, NULL);
}

/* ---- handlers ---- */

CRASH crash_in_handler(int signal)
{
    (void)signal;
    *nowhere = 1;
}

static void handler(void)
{
    signal(SIGUSR1, crash_in_handler);
    raise(SIGUSR1);
}

static void handler_on_stack(void)
{
    static char stack[16 * 1024];
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_handler = crash_in_handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&own, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void give_up(int number)
{
    signal(number, SIG_DFL);
}

/* The program's own handler sets the default action, and returns to the instruction. */
CRASH crash_after_own(void)
{
    signal(SIGSEGV, give_up);
    *nowhere = 1;
}

static void raise_again(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

CRASH crash_raised_again(void)
{
    signal(SIGSEGV, raise_again);
    *nowhere = 1;
}

static sigjmp_buf jump;

static void jump_out(int number)
{
    siglongjmp(jump, number);
}

/* No crash: the program recovers. */
static void recovered(void)
{
    signal(SIGSEGV, jump_out);
    static int i;
    for (i = 0; i < 3; i++) {
        if (sigsetjmp(jump, 1) == 0) {
            *nowhere = 1;
        }
    }
    signal(SIGABRT, SIG_IGN);
    raise(SIGABRT);
    puts("goes on");
}

/* ---- libc ---- */

static int crash_in_comparison(const void *a, const void *b)
{
    *nowhere = 1;
    return a < b;
}

static void comparison(void)
{
    int list[] = {3, 2, 1};
    qsort(list, 3, sizeof *list, crash_in_comparison);
}

static ssize_t crash_in_stdio(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    (void)bytes;
    *nowhere = 1;
    return (ssize_t)size;
}

static void stdio(void)
{
    FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = crash_in_stdio});
    fprintf(file, "text");
    fflush(file);
}

/* In the last round of destructors, as late as a program can. */
static void overflow_in_last_round(void *round)
{
    uintptr_t next = (uintptr_t)round + 1;
    if (next < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(key, (void *)next);
    } else {
        overflow();
    }
}

static void begin_rounds(void)
{
    pthread_setspecific(key, (void *)1);
}

static void last_overflow(void)
{
    pthread_key_create(&key, overflow_in_last_round);
    in_thread(begin_rounds);
}

/* A thread whose thread pointer belongs to somebody else: there are no thread-local variables. */
static void lose_thread_pointer(void)
{
#if defined(__x86_64__)
    enum { SET_FS = 0x1002 /* ARCH_SET_FS of <asm/prctl.h> */ };
    bare_call(SYS_arch_prctl, SET_FS, 0, 0);
#elif defined(__aarch64__)
    __asm__ volatile("msr tpidr_el0, xzr" ::: "memory");
#endif
}

CRASH crash_no_thread_pointer(void)
{
    lose_thread_pointer();
    *nowhere = 1;
}

/* Another one sends the signal: the crash is not the thread's own. */
static void no_thread_pointer_at_term(void)
{
    const long process = getpid();
    lose_thread_pointer();
    bare_call(SYS_kill, process, SIGTERM, 0);
}

/* PPROF_CRASH_LIBRARY crashes in its constructor. */
static void loaded(void)
{
    void *library = dlopen(getenv("PPROF_CRASH_LIBRARY"), RTLD_NOW);
    printf("%s\n", library != NULL ? "goes on" : dlerror());
}

CRASH crash_at_exit(void)
{
    *nowhere = 1;
}

static void at_end(void)
{
    atexit(crash_at_exit);
    exit(0);
}

/* ---- processes ---- */

CRASH crash_in_child(void)
{
    *nowhere = 1;
}

static void print_end(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    printf("child: signal %d\n", WTERMSIG(status));
}

static void child(void)
{
    pid_t process = fork();
    if (process == 0) {
        crash_in_child();
    }
    print_end(process);
}

CRASH crash_in_vfork(void)
{
    *nowhere = 1;
}

static void vfork_child(void)
{
    pid_t process = vfork();
    if (process == 0) {
        crash_in_vfork();
    }
    print_end(process);
}

/* ---- without means ---- */

CRASH crash_without_files(void)
{
    const struct rlimit none = {3, 3};
    setrlimit(RLIMIT_NOFILE, &none);
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    *nowhere = 1;
}

CRASH crash_without_memory(void)
{
    const struct rlimit little = {256 << 20, 256 << 20};
    setrlimit(RLIMIT_AS, &little);
    for (size_t bytes = 64 << 20; bytes >= 4096; bytes /= 2) {
        while (mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
        }
    }
    *nowhere = 1;
}

CRASH crash_without_stderr(void)
{
    close(STDERR_FILENO);
    *nowhere = 1;
}

/* Standard error is a pipe that is full, and that nobody reads. */
CRASH crash_into_full_pipe(void)
{
    *nowhere = 1;
}

static void full_pipe(void)
{
    char bytes[4096] = {0};
    fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
    while (write(STDERR_FILENO, bytes, sizeof bytes) > 0) {
    }
    fcntl(STDERR_FILENO, F_SETFL, 0);
    crash_into_full_pipe();
}

/* ---- what the program sees ---- */

static void *print_stack(void *unused)
{
    static char stack[64 * 1024];
    stack_t now;
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(NULL, &now);
    printf("before: %d %p %zu\n", now.ss_flags, now.ss_sp, now.ss_size);
    sigaltstack(&own, &now);
    printf("then: %d %p %zu\n", now.ss_flags, now.ss_sp, now.ss_size);
    own.ss_flags = SS_DISABLE;
    sigaltstack(&own, &now);
    printf("own: %d %d %zu\n", now.ss_flags, now.ss_sp == stack, now.ss_size);
    sigaltstack(NULL, &now);
    printf("after: %d %p %zu\n", now.ss_flags, now.ss_sp, now.ss_size);
    return unused;
}

static void seen(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
    struct sigaction now;
    pthread_t thread;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        for (int round = 0; round < 2; round++) {
            sigaction(signals[i], NULL, &now);
            printf("%d: %d %x\n", signals[i], now.sa_handler == SIG_DFL, (unsigned)now.sa_flags);
            now.sa_flags = SA_NOCLDSTOP;
            sigaction(signals[i], &now, NULL);
        }
        printf("%d\n", signal(signals[i], SIG_IGN) == SIG_DFL);
        printf("%d\n", signal(signals[i], SIG_DFL) == SIG_IGN);
    }
    print_stack(NULL);
    pthread_create(&thread, NULL, print_stack, NULL);
    pthread_join(thread, NULL);
    fflush(stdout);
    puts("goes on");
}

/* SIGQUIT shows all stacks, and the program goes on. */
__attribute__((noinline)) static void quit_in_work(void)
{
    for (int i = 0; i < 3; i++) {
        raise(SIGQUIT);
    }
    stay();
}

static void quit(void)
{
    start(wait_for_ever, 3);
    quit_in_work();
    puts("goes on");
}

typedef struct kind {
    const char *name;
    void (*run)(void);
} kind;

static const kind kinds[] = {
    {"null-read", crash_null_read},
    {"null-write", crash_null_write},
    {"null-call", crash_null_call},
    {"wild-call", crash_wild_call},
    {"data-call", crash_data_call},
    {"no-address", crash_no_address},
    {"read-only", crash_read_only},
    {"bus", crash_bus},
    {"division", crash_division},
    {"float", crash_float},
    {"illegal", crash_illegal},
    {"privileged", crash_privileged},
    {"abort", crash_abort},
    {"assert", crash_assert},
    {"double-free", crash_double_free},
    {"heap", crash_heap},
    {"smashed", crash_smashed},
    {"raise", crash_raise},
    {"kill", crash_kill},
    {"queue", crash_queue},
    {"overflow", overflow},
    {"overflow-wide", overflow_wide},
    {"no-stack", crash_no_stack},
    {"in-coroutine", coroutines},
    {"in-thread", thread},
    {"thread-overflow", thread_overflow},
    {"among-500", among_500},
    {"among-busy", among_busy},
    {"at-once", at_once},
    {"before-exit", before_exit},
    {"hit", hit_in_dump},
    {"at-thread-end", thread_end},
    {"last-overflow", last_overflow},
    {"no-thread-pointer", crash_no_thread_pointer},
    {"no-thread-pointer-at-term", no_thread_pointer_at_term},
    {"sent-to", send_to_thread},
    {"in-handler", handler},
    {"handler-on-stack", handler_on_stack},
    {"after-own", crash_after_own},
    {"raised-again", crash_raised_again},
    {"in-comparison", comparison},
    {"in-stdio", stdio},
    {"loaded", loaded},
    {"at-exit", at_end},
    {"in-child", child},
    {"in-vfork", vfork_child},
    {"without-files", crash_without_files},
    {"without-memory", crash_without_memory},
    {"without-stderr", crash_without_stderr},
    {"full-pipe", full_pipe},
    {"recovered", recovered},
    {"seen", seen},
    {"quit", quit},
};

__attribute__((noinline)) static void run_kind(const kind *k)
{
    k->run();
    stay();
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name) == 0) {
            run_kind(&kinds[i]);
            return 0;
        }
    }
    return 2;
}
