/* SPDX-License-Identifier: MIT
 *
 * thread_create.c NAME: CPU time of pthread_create() and pthread_join() of a thread that does
 * nothing, called 20 frames deep. Knows nothing of libpprof, and is run with it and without.
 */
#include "measure.h"

#include <pthread.h>

enum { BLOCK = 100, BLOCKS = 200, QUICK_BLOCKS = 40, FRAMES = 20 };

static void *nothing(void *unused)
{
    return unused;
}

__attribute__((noinline)) static void create_block(unsigned frames)
{
    pthread_t thread;
    if (frames > 0) {
        create_block(frames - 1);
        __asm__ volatile("" ::: "memory");
        return;
    }
    for (unsigned i = 0; i < BLOCK; i++) {
        if (pthread_create(&thread, NULL, nothing, NULL) != 0) {
            bench_fail("pthread_create");
        }
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    static double times[BLOCKS];
    const double us_ns = 1e3;
    unsigned blocks = bench_quick() ? QUICK_BLOCKS : BLOCKS;
    if (argc != 2) {
        bench_fail("usage: thread_create NAME");
    }
    create_block(FRAMES);
    for (unsigned i = 0; i < blocks; i++) {
        uint64_t start_ns = bench_process_cpu_ns();
        create_block(FRAMES);
        times[i] = (double)(bench_process_cpu_ns() - start_ns) / BLOCK / us_ns;
    }
    bench_print(argv[1], bench_median(times, blocks), "us");
    return 0;
}
