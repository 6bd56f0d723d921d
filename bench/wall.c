/* SPDX-License-Identifier: MIT
 *
 * wall.c: programs whose wall-clock profile is measured by wall.sh.
 *
 *   wall idle THREADS MS   threads that wait, while the first one measures what the process uses: prints its
 *                          share of one processor in percent, and the CPU time of the first seconds in milliseconds
 *   wall mixed THREADS MS  threads that sleep 1 ms and run 1 ms, in turn: prints how long they lived, in
 *                          nanoseconds
 */
#include "measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t end_ns, lived_ns;

static void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

static void *wait_for_ever(void *unused)
{
    pause();
    return unused;
}

static void *run_and_sleep(void *unused)
{
    uint64_t begin_ns = bench_now_ns();
    while (bench_now_ns() < end_ns) {
        uint64_t until_ns = bench_thread_cpu_ns() + 1000000;
        while (bench_thread_cpu_ns() < until_ns) {
        }
        sleep_ms(1);
    }
    __atomic_add_fetch(&lived_ns, bench_now_ns() - begin_ns, __ATOMIC_RELAXED);
    return unused;
}

static void begin(pthread_t *threads, long count, void *(*routine)(void *))
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], &attributes, routine, NULL) != 0) {
            bench_fail("thread %ld could not be created", i);
        }
    }
}

static void measure_idle(pthread_t *threads, long count, long ms)
{
    enum {
        FIRST_MS = 2500 /* the first looks take a stack of each thread, also on a busy machine */
    };
    uint64_t before_ns = bench_rusage_ns();
    begin(threads, count, wait_for_ever);
    sleep_ms(FIRST_MS);
    uint64_t start_ns = bench_now_ns();
    uint64_t first_ns = bench_rusage_ns();
    sleep_ms(ms);
    uint64_t used_ns = bench_rusage_ns() - first_ns;
    printf("%.3f %.1f\n", 100.0 * (double)used_ns / (double)(bench_now_ns() - start_ns),
           (double)(first_ns - before_ns) / 1e6);
}

static void measure_mixed(pthread_t *threads, long count, long ms)
{
    end_ns = bench_now_ns() + (uint64_t)ms * 1000000;
    begin(threads, count, run_and_sleep);
    for (long i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%llu\n", (unsigned long long)lived_ns);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        bench_fail("usage: wall idle|mixed THREADS MS");
    }
    long count = strtol(argv[2], NULL, 10);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    if (threads == NULL) {
        bench_fail("no memory");
    }
    if (strcmp(argv[1], "idle") == 0) {
        measure_idle(threads, count, strtol(argv[3], NULL, 10));
    } else {
        measure_mixed(threads, count, strtol(argv[3], NULL, 10));
    }
    free(threads);
    return 0; /* with threads that wait */
}
