/* SPDX-License-Identifier: MIT
 *
 * shapes.c: stacks that are hard to walk, few instructions each, to be single-stepped.
 *
 *   plain         recursion, callbacks from libc, tail calls, a leaf with a red zone
 *   alike         two stacks that differ in a saved register alone, again and again
 *   frames        alloca, a VLA, a realigned frame of unknown size (DRAP), a huge one
 *   non-local     setjmp/longjmp, siglongjmp out of a handler, a call through a null pointer
 *   signals       on the same and on an alternate stack, nested, and one that interrupts a system
 *                 call
 *   stacks        makecontext/swapcontext
 *   the loader    lazy binding (linked with -z lazy), dlopen and dlclose, dlsym
 *   the kernel    the vDSO, posix_spawn (vfork and its popped return address)
 *
 * Flags: -O2 -Wno-infinite-recursion -Wl,-z,lazy
 *
 * Libc: glibc
 */
#include <alloca.h>
#include <dlfcn.h>
#include <iconv.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

enum { STACK_SIZE = 64 << 10 };

static volatile unsigned long sink;

/* ---- plain ---- */

KEPT unsigned long leaf(unsigned long a, unsigned long b)
{
    volatile unsigned long in_red_zone[8];
    for (unsigned i = 0; i < 8; i++) {
        in_red_zone[i] = a * i + b;
    }
    return in_red_zone[a & 7];
}

KEPT unsigned long recurse(unsigned depth, unsigned long value)
{
    return depth == 0 ? leaf(value, depth) : recurse(depth - 1, value + 1) + leaf(depth, value);
}

KEPT unsigned long tail(unsigned long value)
{
    return leaf(value, 3);
}

static int compare(const void *a, const void *b)
{
    sink += leaf(*(const unsigned char *)a, *(const unsigned char *)b);
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

KEPT void plain(void)
{
    char letters[] = "the quick brown fox";
    sink += recurse(40, 7) + tail(9);
    qsort(letters, sizeof letters - 1, 1, compare);
    sink += bsearch("q", letters, sizeof letters - 1, 1, compare) != NULL;
}

/* ---- alike ---- */

/*
 * Two stacks that share everything near the leaf but for one saved register: `shifted` has the same
 * SP and the same return address in both, and stands elsewhere. Each stack lies where the other one
 * was before.
 */
__attribute__((noinline, noclone, optimize("no-omit-frame-pointer"))) static unsigned long
framed(unsigned long value)
{
    return leaf(value, 1) + leaf(value, 2);
}

__attribute__((noinline, noclone)) static unsigned long shifted(size_t size)
{
    char *area = alloca(size);
    sink += (uintptr_t)area;
    return framed(size) + 1;
}

__attribute__((noinline, noclone)) static unsigned long from_above(void)
{
    return shifted(1024 + 256) + 1;
}

__attribute__((noinline, noclone)) static unsigned long from_below(void)
{
    char area[256];
    sink += (uintptr_t)area;
    return shifted(1024) + 2;
}

KEPT void alike(void)
{
    for (unsigned i = 0; i < 2000; i++) {
        sink += (i & 1) != 0 ? from_above() : from_below();
    }
}

/* ---- frames ---- */

KEPT unsigned long on_stack(char *area, size_t size)
{
    memset(area, 1, size);
    return leaf(size, (unsigned char)area[size / 2]);
}

KEPT unsigned long with_alloca(size_t size)
{
    return on_stack(alloca(size), size) + on_stack(alloca(size + 5), size);
}

KEPT unsigned long with_vla(size_t size)
{
    unsigned long sum = 0;
    for (size_t i = 1; i < 4; i++) {
        char area[size * i];
        sum += on_stack(area, size * i);
    }
    return sum;
}

KEPT unsigned long realigned(size_t size)
{
    _Alignas(64) char line[64];
    char *area = alloca(size);
    return on_stack(line, sizeof line) + on_stack(area, size) + ((uintptr_t)line & 63);
}

KEPT unsigned long huge(void)
{
    char area[70000];
    area[5] = 1;
    return on_stack(area + 30000, 100);
}

KEPT void frames(void)
{
    sink += with_alloca(100) + with_vla(33) + realigned(50) + huge();
}

/* ---- non-local ---- */

static jmp_buf back;
static sigjmp_buf back_from_signal;
static volatile unsigned stop_at; /* 0, but the compiler is not told */

__attribute__((noinline, noclone)) void jump_from(unsigned depth)
{
    if (depth == stop_at) {
        longjmp(back, 1);
    }
    jump_from(depth - 1);
    sink++;
}

static void on_fault(int signal)
{
    sink += leaf((unsigned long)signal, 1);
    siglongjmp(back_from_signal, 1);
}

KEPT void call_null(void)
{
    void (*volatile nowhere)(void) = NULL;
    nowhere();
    sink++;
}

KEPT void read_nothing(void)
{
    const unsigned long *volatile nothing = (const unsigned long *)64;
    sink += *nothing;
}

KEPT void non_local(void)
{
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    if (setjmp(back) == 0) {
        jump_from(5);
    }
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(back_from_signal, 1) == 0) {
        read_nothing();
    }
    if (sigsetjmp(back_from_signal, 1) == 0) {
        call_null();
    }
}

/* ---- signals ---- */

static void on_inner(int signal)
{
    sink += recurse(3, (unsigned long)signal);
}

static void on_outer(int signal)
{
    sink += leaf((unsigned long)signal, 2);
    raise(SIGUSR2);
}

static void on_alarm(int signal)
{
    sink += leaf((unsigned long)signal, 4);
}

KEPT void wait_for_alarm(void)
{
    /* Again and again: the first one may come before the read. */
    struct itimerval soon = {.it_value = {.tv_usec = 20000}, .it_interval = {.tv_usec = 20000}};
    const struct itimerval never = {.it_value = {0}};
    char byte = 0;
    int ends[2];
    if (pipe(ends) == 0) {
        setitimer(ITIMER_REAL, &soon, NULL);
        sink += (unsigned long)read(ends[0], &byte, 1); /* EINTR */
        setitimer(ITIMER_REAL, &never, NULL);
        close(ends[0]);
        close(ends[1]);
    }
}

KEPT void signals(void)
{
    struct sigaction outer = {.sa_handler = on_outer};
    struct sigaction inner = {.sa_handler = on_inner, .sa_flags = SA_ONSTACK};
    struct sigaction alarmed = {.sa_handler = on_alarm};
    sigaction(SIGUSR1, &outer, NULL);
    sigaction(SIGUSR2, &inner, NULL);
    sigaction(SIGALRM, &alarmed, NULL);
    raise(SIGUSR1);
    outer.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &outer, NULL);
    raise(SIGUSR1);
    raise(SIGUSR2);
    wait_for_alarm();
}

/* ---- stacks ---- */

static ucontext_t main_context, coroutine;

static void run_coroutine(void)
{
    for (unsigned i = 0; i < 3; i++) {
        sink += recurse(3, i);
        swapcontext(&coroutine, &main_context);
    }
}

KEPT void stacks(char *stack)
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = STACK_SIZE;
    coroutine.uc_link = &main_context;
    makecontext(&coroutine, run_coroutine, 0);
    for (unsigned i = 0; i < 4; i++) {
        sink += leaf(i, i);
        swapcontext(&main_context, &coroutine);
    }
}

/* ---- the loader ---- */

KEPT void loader(void)
{
    char in[] = "gr\xfc\xdf";
    char out[16];
    char *from = in;
    char *to = out;
    size_t in_left = sizeof in;
    size_t out_left = sizeof out;
    void *library = dlopen("libm.so.6", RTLD_LAZY);
    double (*cosine)(double) = library != NULL ? (double (*)(double))dlsym(library, "cos") : NULL;
    if (cosine != NULL) {
        sink += (unsigned long)(cosine(1.0) * 100);
    }
    iconv_t converter = iconv_open("UTF-8", "ISO-8859-15"); /* a library of its own */
    if (converter != (iconv_t)-1) {
        sink += iconv(converter, &from, &in_left, &to, &out_left);
        iconv_close(converter);
    }
    if (library != NULL) {
        dlclose(library);
    }
}

/* ---- the kernel ---- */

extern char **environ;

KEPT void kernel(void)
{
    struct timespec now;
    struct timeval day;
    char *arguments[] = {(char *)"true", NULL};
    pid_t child = 0;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    gettimeofday(&day, NULL);
    sink += (unsigned long)now.tv_nsec + (unsigned long)day.tv_usec;
    if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0) {
        waitpid(child, &status, 0);
    }
    child = vfork();
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, &status, 0);
}

static char *stack_of_its_own(void)
{
    /* Between pages that cannot be read: no neighbour is taken for the same stack. */
    char *area = mmap(NULL, STACK_SIZE + 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(area + 4096, STACK_SIZE, PROT_READ | PROT_WRITE);
    return area + 4096;
}

int main(void)
{
    stack_t signal_stack = {.ss_sp = stack_of_its_own(), .ss_size = STACK_SIZE};
    sigaltstack(&signal_stack, NULL);
    plain();
    alike();
    frames();
    non_local();
    signals();
    stacks(stack_of_its_own());
    loader();
    kernel();
    printf("%s\n", sink != 0 ? "done" : "nothing");
    return 0;
}
