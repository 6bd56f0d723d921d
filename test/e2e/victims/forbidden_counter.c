/* SPDX-License-Identifier: MIT
 *
 * forbidden_counter.c prctl|syscall|thread: a program that forbids itself the processor's counter
 * of cycles, by libc's prctl(), by syscall(), or in a thread that starts others, and computes.
 * Reading any clock by the vDSO kills it. Exits with 42, or 77 where that cannot be forbidden.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void forbid(const char *way)
{
    long result = strcmp(way, "syscall") == 0
                      ? syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)
                      : prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if (result != 0) {
        exit(77);
    }
}

static long ms_used(void)
{
    struct timespec now = {0};
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noinline)) void counterless_work(void)
{
    long end = ms_used() + 200;
    while (ms_used() < end) {
        for (unsigned i = 0; i < 100000; i++) {
            sink += i;
        }
        pthread_mutex_lock(&mutex);
        free(malloc(sink % 1000));
        pthread_mutex_unlock(&mutex);
    }
}

static void *inherits(void *unused)
{
    counterless_work();
    return unused;
}

static void *forbids(void *way)
{
    pthread_t threads[2];
    forbid(way);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, inherits, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    const char *way = argc > 1 ? argv[1] : "prctl";
    if (strcmp(way, "thread") == 0) {
        pthread_create(&thread, NULL, forbids, argv[1]);
        pthread_join(thread, NULL);
    } else {
        forbid(way);
        counterless_work();
    }
    return 42;
}
