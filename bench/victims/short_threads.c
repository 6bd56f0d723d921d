/* SPDX-License-Identifier: MIT
 *
 * short_threads.c: threads that live shorter than the kernel's tick, RATE of them a second.
 *
 * usage: short_threads RATE LIFE_MS SECONDS
 *
 * Each burns LIFE_MS of CPU time and ends. The last thing that the program does is to print, in
 * nanoseconds, the CPU time of the process: "cpu_ns N".
 */
#include "measure.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 1 << 16, ROUND = 20000 };

static uint64_t life_ns;

static __attribute__((noinline)) uint64_t live_round(uint64_t seed)
{
    for (unsigned i = 0; i < ROUND; i++) {
        seed = seed * UINT64_C(6364136223846793005) + i;
    }
    return seed;
}

static void *live(void *argument)
{
    (void)argument;
    volatile uint64_t kept = 1;
    while (bench_thread_cpu_ns() < life_ns) {
        kept = live_round(kept);
    }
    return NULL;
}

static void sleep_until(uint64_t when_ns)
{
    struct timespec when = {.tv_sec = (time_t)(when_ns / 1000000000),
                            .tv_nsec = (long)(when_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {
    }
}

int main(int argc, char **argv)
{
    static pthread_t threads[MAX_THREADS];
    double rate = argc == 4 ? strtod(argv[1], NULL) : 0;
    double life_ms = argc == 4 ? strtod(argv[2], NULL) : 0;
    double count = argc == 4 ? rate * strtod(argv[3], NULL) : 0;
    if (rate <= 0 || life_ms <= 0 || count < 1 || count > MAX_THREADS) {
        bench_fail("usage: short_threads RATE LIFE_MS SECONDS");
    }
    life_ns = (uint64_t)(life_ms * 1e6);
    uint64_t start_ns = bench_now_ns();
    for (unsigned i = 0; i < (unsigned)count; i++) {
        sleep_until(start_ns + (uint64_t)(1e9 * i / rate));
        if (pthread_create(&threads[i], NULL, live, NULL) != 0) {
            bench_fail("cannot create thread %u", i);
        }
    }
    for (unsigned i = 0; i < (unsigned)count; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("cpu_ns %llu\n", (unsigned long long)bench_rusage_ns());
    return 0;
}
