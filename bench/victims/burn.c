/* SPDX-License-Identifier: MIT
 *
 * burn.c: THREADS threads that use SECONDS of CPU time between them, and what the kernel says of
 * it.
 *
 * usage: burn THREADS SECONDS
 *
 * The last thing that it does is to print, in nanoseconds, the CPU time of the process: "cpu_ns N".
 */
#include "measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_THREADS = 256,
    ROUND = 200000 /* between two looks at the clock: some 0.1 ms */
};

static uint64_t share_ns;

static __attribute__((noinline)) uint64_t burn_round(uint64_t seed)
{
    for (unsigned i = 0; i < ROUND; i++) {
        seed = seed * UINT64_C(6364136223846793005) + i;
    }
    return seed;
}

static void *burn(void *argument)
{
    (void)argument;
    volatile uint64_t kept = 1;
    while (bench_thread_cpu_ns() < share_ns) {
        kept = burn_round(kept);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    double seconds = argc == 3 ? strtod(argv[2], NULL) : 0;
    if (count < 1 || count > MAX_THREADS || seconds <= 0) {
        bench_fail("usage: burn THREADS SECONDS");
    }
    share_ns = (uint64_t)(seconds * 1e9 / (double)count);
    for (long i = 1; i < count; i++) {
        if (pthread_create(&threads[i], NULL, burn, NULL) != 0) {
            bench_fail("cannot create thread %ld", i);
        }
    }
    burn(NULL);
    for (long i = 1; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("cpu_ns %llu\n", (unsigned long long)bench_rusage_ns());
    return 0;
}
