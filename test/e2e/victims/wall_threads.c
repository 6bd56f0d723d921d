/* SPDX-License-Identifier: MIT
 *
 * wall_threads.c: threads with names that change: by themselves, by another thread while they wait, and
 * of threads that live briefly.
 *
 * usage: wall_threads MS    how long each part takes
 *
 * Flags: -fno-builtin
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static long part_ms;
static sem_t for_named, never;

static double now_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

__attribute__((noinline)) static void spin(double ms)
{
    double begin = now_ms(CLOCK_THREAD_CPUTIME_ID);
    while (now_ms(CLOCK_THREAD_CPUTIME_ID) - begin < ms) {
    }
}

static void sleep_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) != 0) {
    }
}

__attribute__((noinline)) static void sleep_as_alpha(void)
{
    sleep_ms(part_ms);
    __asm__ volatile("");
}

__attribute__((noinline)) static void run_as_beta(void)
{
    spin((double)part_ms / 4);
    __asm__ volatile("");
}

static void *change_name(void *unused)
{
    prctl(PR_SET_NAME, "alpha");
    sleep_as_alpha();
    prctl(PR_SET_NAME, "beta");
    run_as_beta();
    return unused;
}

__attribute__((noinline)) static void wait_to_be_named(void)
{
    sem_post(&for_named);
    while (sem_wait(&never) != 0) {
    }
}

static void *be_named(void *unused)
{
    wait_to_be_named();
    return unused;
}

static void *live_briefly(void *unused)
{
    prctl(PR_SET_NAME, "brief");
    spin(3);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t changes, named, brief;
    part_ms = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    sem_init(&for_named, 0, 0);
    sem_init(&never, 0, 0);
    pthread_create(&named, NULL, be_named, NULL);
    pthread_create(&changes, NULL, change_name, NULL);
    sem_wait(&for_named);
    sleep_ms(part_ms / 4); /* the thread is seen with its first name */
    pthread_setname_np(named, "gamma");
    for (int i = 0; i < 50; i++) {
        pthread_create(&brief, NULL, live_briefly, NULL);
        pthread_join(brief, NULL);
    }
    pthread_join(changes, NULL);
    sleep_ms(2 * part_ms);
    sem_post(&never);
    pthread_join(named, NULL);
    return 0;
}
