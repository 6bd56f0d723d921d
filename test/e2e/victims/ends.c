/* SPDX-License-Identifier: MIT
 *
 * ends.c WAY: burns 200 ms in `last_work` and ends the process in that way. The exit status is 42
 * where there is one to choose. The ways that wait for a signal first print "ready".
 */
#include "burn.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STATUS = 42 };

void last_work(void)
{
    burn_ms(200);
}

static void ready(void)
{
    if (write(STDOUT_FILENO, "ready\n", 6) != 6) {
        abort();
    }
}

static void end_by_exit(void)
{
    exit(STATUS);
}

static void end_by_underscore(void)
{
    _exit(STATUS);
}

static void end_by_capital(void)
{
    _Exit(STATUS);
}

static void end_by_quick_exit(void)
{
    quick_exit(STATUS);
}

static void end_by_system_call(void)
{
    syscall(SYS_exit_group, STATUS);
}

static void end_by_abort(void)
{
    abort();
}

static void *exit_entry(void *unused)
{
    (void)unused;
    exit(STATUS);
}

static void end_from_a_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exit_entry, NULL);
    for (;;) {
        pause();
    }
}

static void *late_entry(void *main_thread)
{
    pthread_join(*(pthread_t *)main_thread, NULL);
    burn_ms(60);
    exit(STATUS);
}

/* The main thread goes first, another one goes on. */
static void end_after_main(void)
{
    static pthread_t main_thread;
    pthread_t thread;
    main_thread = pthread_self();
    pthread_create(&thread, NULL, late_entry, &main_thread);
    pthread_exit(NULL);
}

static void *last_entry(void *unused)
{
    burn_ms(60);
    return unused;
}

/* The last thread to end ends the process, with status 0. */
static void end_with_last_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, last_entry, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
}

/* A thread that has been cancelled, but has not yet met a cancellation point, ends the process. */
static void *cancelled_exit_entry(void *unused)
{
    (void)unused;
    pthread_cancel(pthread_self());
    burn_ms(20);
    exit(STATUS);
}

static void *cancelled_underscore_entry(void *unused)
{
    (void)unused;
    pthread_cancel(pthread_self());
    burn_ms(20);
    _exit(STATUS);
}

static void run_and_return_one(void *(*entry)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, entry, NULL);
    pthread_join(thread, NULL);
    _exit(1);
}

static void end_while_cancelled(void)
{
    run_and_return_one(cancelled_exit_entry);
}

static void end_bare_while_cancelled(void)
{
    run_and_return_one(cancelled_underscore_entry);
}

static void exit_in_handler(int number)
{
    (void)number;
    _exit(STATUS);
}

/* A handler of the host's interrupts whatever goes on, and ends the process. */
static void end_in_handler(void)
{
    struct sigaction action = {.sa_handler = exit_in_handler};
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct itimerspec when = {.it_value.tv_nsec = 30 * 1000 * 1000};
    sigaction(SIGALRM, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &when, NULL);
    for (;;) {
        work_a_little();
    }
}

/* ---- until a signal comes ---- */

static void wait_idle(void)
{
    ready();
    for (;;) {
        pause();
    }
}

static void wait_busy(void)
{
    ready();
    for (;;) {
        work_a_little();
    }
}

static void *busy_entry(void *unused)
{
    for (;;) {
        work_a_little();
    }
    return unused;
}

static void wait_threads(void)
{
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, busy_entry, NULL);
    }
    wait_idle();
}

static void *small_entry(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGTERM);
    sigdelset(&all, SIGPROF);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    wait_busy();
    return unused;
}

/* The signal can only be taken by a thread on the smallest of stacks. */
static void wait_small_stack(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
    pthread_create(&thread, &attributes, small_entry, NULL);
    pthread_join(thread, NULL);
}

static void wait_in_malloc(void)
{
    ready();
    for (size_t size = 1;; size = size * 7 % 100003) {
        char *block = malloc(size);
        if (block != NULL) {
            block[0] = 1;
        }
        free(block);
    }
}

static void wait_in_dlopen(void)
{
    ready();
    for (;;) {
        void *handle = dlopen("libm.so.6", RTLD_NOW);
        if (handle != NULL) {
            dlclose(handle);
        }
    }
}

static void wait_in_stdio(void)
{
    ready();
    FILE *null = fopen("/dev/null", "w");
    for (unsigned long i = 0;; i++) {
        fprintf(null, "%lu", i);
    }
}

static void print_and_end(int number)
{
    if (write(STDOUT_FILENO, "handler\n", 8) == 8) {
        _exit(number == SIGTERM ? STATUS : STATUS + 1);
    }
}

static void wait_with_handler(void)
{
    struct sigaction action = {.sa_handler = print_and_end};
    sigaction(SIGTERM, &action, NULL);
    signal(SIGINT, print_and_end);
    wait_idle();
}

/* What the host reads back must be what it would read without us. */
static void wait_with_default_restored(void)
{
    struct sigaction old;
    if (sigaction(SIGTERM, NULL, &old) != 0 || old.sa_handler != SIG_DFL || old.sa_flags != 0) {
        _exit(2);
    }
    if (signal(SIGTERM, print_and_end) != SIG_DFL || signal(SIGTERM, SIG_DFL) != print_and_end ||
        signal(SIGINT, SIG_IGN) != SIG_DFL || signal(SIGINT, SIG_DFL) != SIG_IGN) {
        _exit(3);
    }
    wait_idle();
}

static void wait_ignoring(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    raise(SIGTERM);
    raise(SIGINT);
    exit(STATUS);
}

static const struct {
    const char *name;
    void (*end)(void);
} ways[] = {
    {"exit", end_by_exit},
    {"_exit", end_by_underscore},
    {"_Exit", end_by_capital},
    {"quick_exit", end_by_quick_exit},
    {"exit_group", end_by_system_call},
    {"abort", end_by_abort},
    {"thread", end_from_a_thread},
    {"after-main", end_after_main},
    {"last-thread", end_with_last_thread},
    {"cancelled-exit", end_while_cancelled},
    {"cancelled-_exit", end_bare_while_cancelled},
    {"handler", end_in_handler},
    {"idle", wait_idle},
    {"busy", wait_busy},
    {"threads", wait_threads},
    {"small-stack", wait_small_stack},
    {"malloc", wait_in_malloc},
    {"dlopen", wait_in_dlopen},
    {"stdio", wait_in_stdio},
    {"own-handler", wait_with_handler},
    {"default-restored", wait_with_default_restored},
    {"ignored", wait_ignoring},
};

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "return";
    last_work();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, way) == 0) {
            ways[i].end();
        }
    }
    return STATUS;
}
