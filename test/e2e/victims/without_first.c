/* SPDX-License-Identifier: MIT
 *
 * without_first.c [relay]: its first thread ends. Another one says "ready" then, works in work_on() and ends the program at
 * the end of its input, for which a third one waits. With `relay` the oldest thread lives for some milliseconds: each begins
 * the next one.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long worked;

static __attribute__((noinline)) void work_on(void)
{
    for (unsigned i = 0; i < 1000000; i++)
        worked += i;
}

static void *work(void *unused)
{
    char byte[1];
    while (readlink("/proc/self/exe", byte, 1) > 0)
        sched_yield();
    puts("ready");
    fflush(stdout);
    for (;;) {
        const struct timespec pause = {.tv_nsec = 1000000};
        work_on();
        nanosleep(&pause, NULL);
    }
    return unused;
}

static void *wait_for_end(void *unused)
{
    char byte;
    while (read(0, &byte, 1) > 0)
        continue;
    exit(0);
    return unused;
}

static void begin(void *(*run)(void *))
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, run, NULL) != 0)
        abort();
    pthread_attr_destroy(&attributes);
}

static void *hand_on(void *unused)
{
    const struct timespec pause = {.tv_nsec = 3000000};
    nanosleep(&pause, NULL);
    begin(hand_on);
    return unused;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "relay") == 0)
        begin(hand_on);
    begin(work);
    begin(wait_for_end);
    pthread_exit(NULL);
}
