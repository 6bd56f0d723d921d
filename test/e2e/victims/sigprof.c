/* SPDX-License-Identifier: MIT
 *
 * sigprof.c WAY: a program that uses SIGPROF itself, and works for 300 ms. Exit status 42 if it saw
 * what it would see without a profiler.
 */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { STATUS = 42, KILLS = 50, WORK_MS = 300 };

static atomic_int handled;
static atomic_int handled_with_info;

static void count(int number)
{
    handled += number == SIGPROF;
}

static void count_info(int number, siginfo_t *info, void *context)
{
    handled_with_info += number == SIGPROF && info != NULL && context != NULL;
}

void work(void)
{
    burn_ms(WORK_MS);
}

static int kill_often(atomic_int *counter)
{
    for (int i = 0; i < KILLS; i++) {
        int before = *counter;
        kill(getpid(), SIGPROF);
        while (*counter == before) {
            work_a_little();
        }
    }
    work();
    return *counter == KILLS ? STATUS : 1;
}

static int own_handler(void)
{
    struct sigaction action = {.sa_handler = count};
    struct sigaction now;
    if (sigaction(SIGPROF, &action, NULL) != 0 || sigaction(SIGPROF, NULL, &now) != 0) {
        return 2;
    }
    return now.sa_handler == count ? kill_often(&handled) : 3;
}

static int own_handler_by_signal(void)
{
    if (signal(SIGPROF, count) == SIG_ERR) {
        return 2;
    }
    int result = kill_often(&handled);
    return signal(SIGPROF, SIG_IGN) == count ? result : 3;
}

static int own_handler_with_info(void)
{
    struct sigaction action = {.sa_sigaction = count_info, .sa_flags = SA_SIGINFO};
    sigaction(SIGPROF, &action, NULL);
    return kill_often(&handled_with_info);
}

static int ignored(void)
{
    signal(SIGPROF, SIG_IGN);
    for (int i = 0; i < KILLS; i++) {
        kill(getpid(), SIGPROF);
    }
    work();
    return STATUS;
}

/* Already ignored by who started us. */
static int ignored_from_the_start(void)
{
    kill(getpid(), SIGPROF);
    work();
    return STATUS;
}

/* Ends the process. */
static int defaulted(void)
{
    work();
    signal(SIGPROF, SIG_DFL);
    kill(getpid(), SIGPROF);
    work();
    return 1;
}

static void *kill_thread(void *unused)
{
    work();
    pthread_kill(pthread_self(), SIGPROF);
    work();
    return unused;
}

static int defaulted_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, kill_thread, NULL);
    pthread_join(thread, NULL);
    return 1;
}

/* A profiler of the host's own, on the process's CPU time. */
static int interval_timer(void)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    struct itimerval every = {.it_interval = {.tv_usec = 10000}, .it_value = {.tv_usec = 10000}};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    work();
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_PROF, &every, NULL);
    return handled >= 3 && handled <= WORK_MS / 5 ? STATUS : 1; /* 30, give or take ticks */
}

static void *work_blocked(void *unused)
{
    const uint64_t all = ~UINT64_C(0);
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all); /* past libc */
    work();
    return unused;
}

static int blocked(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work_blocked, NULL);
    pthread_join(thread, NULL);
    return STATUS;
}

/* As xz does with its workers: everything is blocked where the thread is made, and it looks so
 * there. */
static void *work_all_blocked(void *result)
{
    sigset_t now;
    sigset_t none;
    work();
    sigemptyset(&none);
    pthread_sigmask(SIG_BLOCK, &none, &now);
    bool whole = sigismember(&now, SIGPROF) == 1 && sigismember(&now, SIGUSR1) == 1;
    sigemptyset(&none);
    sigaddset(&none, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &none, NULL);
    sigprocmask(SIG_SETMASK, NULL, &now);
    *(int *)result = whole && sigismember(&now, SIGPROF) == 0 ? STATUS : 1;
    return NULL;
}

static int all_blocked(void)
{
    pthread_t thread;
    sigset_t all;
    sigset_t old;
    sigset_t after;
    int result = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&thread, NULL, work_all_blocked, &result);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    return sigismember(&after, SIGPROF) == sigismember(&old, SIGPROF) ? result : 1;
}

/* The thread that takes all signals, as many daemons have one. */
static void *take_all(void *result)
{
    sigset_t all;
    int number = 0;
    sigfillset(&all);
    work();
    if (sigwait(&all, &number) == 0) {
        *(int *)result = number == SIGUSR1 ? STATUS : 1;
    }
    return NULL;
}

static int signal_thread(void)
{
    sigset_t all;
    pthread_t thread;
    int result = 2;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_create(&thread, NULL, take_all, &result);
    work();
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    return result;
}

static int signal_descriptor(void)
{
    sigset_t all;
    struct signalfd_siginfo info;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int fd = signalfd(-1, &all, SFD_CLOEXEC);
    work();
    kill(getpid(), SIGUSR1);
    if (fd < 0 || read(fd, &info, sizeof info) != sizeof info) {
        return 2;
    }
    return info.ssi_signo == SIGUSR1 ? STATUS : 1;
}

/* A signal with a value, from the host's own timer. */
static int own_timer(void)
{
    struct sigaction action = {.sa_sigaction = count_info, .sa_flags = SA_SIGINFO};
    struct sigevent event = {
        .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF, .sigev_value.sival_ptr = &handled};
    struct itimerspec once = {.it_value.tv_nsec = 1000000};
    timer_t timer;
    sigaction(SIGPROF, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        return 2;
    }
    timer_settime(timer, 0, &once, NULL);
    work();
    return handled_with_info == 1 ? STATUS : 1;
}

static const struct {
    const char *name;
    int (*run)(void);
} ways[] = {
    {"handler", own_handler},
    {"handler-signal", own_handler_by_signal},
    {"handler-info", own_handler_with_info},
    {"ignored", ignored},
    {"ignored-from-start", ignored_from_the_start},
    {"default", defaulted},
    {"default-thread", defaulted_in_thread},
    {"interval-timer", interval_timer},
    {"blocked", blocked},
    {"all-blocked", all_blocked},
    {"signal-thread", signal_thread},
    {"signal-descriptor", signal_descriptor},
    {"own-timer", own_timer},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, argv[1]) == 0) {
            return ways[i].run();
        }
    }
    return 99;
}
