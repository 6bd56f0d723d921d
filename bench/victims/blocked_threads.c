/* SPDX-License-Identifier: MIT
 *
 * blocked_threads N: N threads wait, 10 to 39 calls deep. One thread more sleeps 1 ms again and again and
 * notes the longest time between two awakenings. Prints "ready"; at SIGTERM prints that time in ms, and
 * ends; at SIGUSR1 forgets it.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t longest_ns;

__attribute__((noinline)) static void wait_deeply(int calls)
{
    if (calls > 0)
        wait_deeply(calls - 1);
    else
        poll(NULL, 0, -1);
    __asm__ volatile("" ::: "memory");
}

static void *wait_for_ever(void *calls)
{
    wait_deeply((int)(intptr_t)calls);
    return NULL;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void *pulse(void *unused)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    (void)unused;
    for (int64_t last = now_ns();;) {
        nanosleep(&pause, NULL);
        int64_t now = now_ns();
        longest_ns = now - last > longest_ns ? now - last : longest_ns;
        last = now;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    enum { LEAST = 10, DEPTHS = 30 };
    sigset_t signals;
    pthread_t thread;
    int signal = 0;
    long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread, NULL, wait_for_ever, (void *)(intptr_t)(LEAST + i % DEPTHS)) !=
            0)
            return 1;
    if (pthread_create(&thread, NULL, pulse, NULL) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (sigwait(&signals, &signal) == 0 && signal != SIGTERM)
        longest_ns = 0;
    printf("%.3f\n", (double)longest_ns / 1e6);
    return 0;
}
