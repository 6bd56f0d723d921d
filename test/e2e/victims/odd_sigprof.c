/* SPDX-License-Identifier: MIT
 *
 * odd_sigprof.c WAY: programs whose own work hangs on SIGPROF and ITIMER_PROF. Each works until its
 * timer has struck TICKS times, and prints what it saw, which is the same in every run.
 *
 *   count      counts in the handler, in two threads that the kernel chooses from
 *   preempt    threads of its own making: the handler goes over to the next one's context, and
 *              returns when it is this one's turn again
 *   jump       siglongjmp out of the handler, each time; the mask is the saved one afterwards
 *   keep-mask  the same without a saved mask: what the handler had blocked stays blocked, and
 *              nothing else
 *   critical   sections of code during which the signal is blocked and must not come
 *   fork       children that work until their own timer strikes
 *   chain      a handler that asks who was there before it, and calls that one
 *   exec       the timer and an ignored signal are inherited through exec
 *   exec-blocked     and so is a mask, and a signal that waits behind it
 *   no-clock   works after it has forbidden itself to read the time-stamp counter, as a program
 *              does that wants to be repeatable: whoever reads a clock now is killed
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { TICKS = 12, EVERY_US = 4000, STATUS = 42, CONTEXTS = 6, STACK = 64 * 1024 };

static atomic_int ticks;
static volatile unsigned long sink;

static void work(void)
{
    for (unsigned long i = 0; i < 20000; i++) {
        sink += i * sink + 1;
    }
}

static void every(long us)
{
    struct itimerval timer = {.it_interval = {.tv_usec = us}, .it_value = {.tv_usec = us}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void handle(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGPROF, &action, NULL);
}

/* The signals that are blocked now. */
static void print_mask(const char *when)
{
    sigset_t now;
    sigset_t all;
    sigfillset(&all); /* nothing jumps out of printf */
    pthread_sigmask(SIG_BLOCK, &all, &now);
    printf("%s:", when);
    for (int number = 1; number < 65; number++) {
        if (sigismember(&now, number) == 1) {
            printf(" %d", number);
        }
    }
    printf("\n");
    pthread_sigmask(SIG_SETMASK, &now, NULL);
}

static void count(int number)
{
    ticks += number == SIGPROF;
}

static void *count_along(void *unused)
{
    while (ticks < TICKS) {
        work();
    }
    return unused;
}

static void way_count(void)
{
    pthread_t thread;
    handle(count, SA_RESTART);
    every(EVERY_US);
    pthread_create(&thread, NULL, count_along, NULL);
    count_along(NULL);
    every(0);
    pthread_join(thread, NULL);
    print_mask("after");
}

/* ---- preempt ---- */

static ucontext_t contexts[CONTEXTS];
static volatile int current;
static volatile int alive = CONTEXTS - 1;
static volatile char ended[CONTEXTS];
static volatile unsigned long turns[CONTEXTS];

static void next_context(int number)
{
    int from = current;
    ticks += number == SIGPROF;
    do {
        current = (current + 1) % CONTEXTS;
    } while (ended[current]);
    turns[current]++;
    if (current != from) {
        swapcontext(&contexts[from], &contexts[current]);
    }
}

static void preempted(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    while (turns[current] < TICKS / 2) {
        work();
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    ended[current] = 1;
    alive--;
    next_context(0);
}

static void way_preempt(void)
{
    for (int i = 1; i < CONTEXTS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(STACK);
        contexts[i].uc_stack.ss_size = STACK;
        makecontext(&contexts[i], preempted, 0);
    }
    handle(next_context, SA_RESTART);
    every(EVERY_US);
    while (alive > 0) {
        work();
    }
    every(0);
    printf("alive %d, enough ticks %d\n", alive, ticks >= TICKS);
    print_mask("after");
}

/* ---- jump, keep-mask ---- */

static sigjmp_buf back;

static void jump_back(int number)
{
    ticks += number == SIGPROF;
    siglongjmp(back, 1);
}

static void jump_until_enough(int save_mask)
{
    sigset_t two;
    sigemptyset(&two);
    sigaddset(&two, SIGPROF);
    sigaddset(&two, SIGUSR1);
    handle(jump_back, 0);
    every(EVERY_US);
    /* The next tick may come before the first jump has been looked at. */
    static volatile int jumped;
    if (sigsetjmp(back, save_mask) != 0) {
        if (jumped++ == 0) {
            print_mask("after a jump");
        }
        if (!save_mask) {
            sigprocmask(SIG_UNBLOCK, &two, NULL);
        }
    }
    while (ticks < TICKS) {
        work();
    }
    every(0);
    print_mask("after");
}

static void way_jump(void)
{
    jump_until_enough(1);
}

static void way_keep_mask(void)
{
    jump_until_enough(0);
}

/* ---- critical ---- */

static volatile int in_section;
static volatile int intrusions;

static void look_into_section(int number)
{
    ticks += number == SIGPROF;
    intrusions += in_section;
}

static void way_critical(void)
{
    sigset_t set;
    sigset_t old;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    handle(look_into_section, 0);
    every(EVERY_US);
    while (ticks < TICKS) {
        sigprocmask(SIG_BLOCK, &set, &old);
        in_section = 1;
        work();
        in_section = 0;
        sigprocmask(SIG_SETMASK, &old, NULL);
    }
    every(0);
    printf("intrusions %d\n", intrusions);
}

/* ---- fork, chain, exec ---- */

static void way_fork(void)
{
    handle(count, SA_RESTART);
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        int status = 0;
        if (child == 0) {
            struct itimerval left;
            getitimer(ITIMER_PROF, &left);
            ticks = left.it_interval.tv_usec != 0 ? 1000 : 0; /* not inherited */
            every(EVERY_US);
            count_along(NULL);
            _exit(ticks < 1000 ? STATUS : 1);
        }
        waitpid(child, &status, 0);
        printf("child %d %d\n", WIFEXITED(status), WEXITSTATUS(status));
    }
}

static struct sigaction before;

static void chained(int number)
{
    count(number);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    }
}

static void way_chain(void)
{
    struct sigaction action = {.sa_handler = chained};
    sigaction(SIGPROF, &action, &before);
    printf("before: default %d, flags %#x\n", before.sa_handler == SIG_DFL,
           (unsigned)before.sa_flags);
    every(EVERY_US);
    count_along(NULL);
    every(0);
    sigaction(SIGPROF, &before, &action);
    printf("ours: %d\n", action.sa_handler == chained);
}

static void way_exec(const char *program)
{
    signal(SIGPROF, SIG_IGN);
    every(EVERY_US);
    execl(program, program, "exec-second", (char *)NULL);
}

static void way_exec_blocked(const char *program)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGPROF);
    execl(program, program, "exec-blocked-second", (char *)NULL);
}

static void way_exec_blocked_second(void)
{
    sigset_t pending;
    sigpending(&pending);
    print_mask("inherited");
    printf("pending %d\n", sigismember(&pending, SIGPROF));
}

static void way_exec_second(void)
{
    struct sigaction now;
    struct itimerval left;
    sigaction(SIGPROF, NULL, &now);
    getitimer(ITIMER_PROF, &left);
    for (int i = 0; i < 200; i++) {
        work();
    }
    printf("ignored %d, timer %ld\n", now.sa_handler == SIG_IGN, (long)left.it_interval.tv_usec);
}

/* Nothing here may read a clock: the work is counted. */
static void way_no_clock(void)
{
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    for (int i = 0; i < 1500; i++) {
        work();
    }
    prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"count", way_count},
    {"preempt", way_preempt},
    {"jump", way_jump},
    {"keep-mask", way_keep_mask},
    {"critical", way_critical},
    {"fork", way_fork},
    {"chain", way_chain},
    {"no-clock", way_no_clock},
    {"exec-second", way_exec_second},
    {"exec-blocked-second", way_exec_blocked_second},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "exec") == 0) {
        way_exec(argv[0]);
    }
    if (argc > 1 && strcmp(argv[1], "exec-blocked") == 0) {
        way_exec_blocked(argv[0]);
    }
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, argv[1]) == 0) {
            ways[i].run();
            return STATUS;
        }
    }
    return 99;
}
