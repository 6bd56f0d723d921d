/* SPDX-License-Identifier: MIT
 *
 * gprof.c: to be built with gcc -pg: libc then runs a profiler of its own on ITIMER_PROF and
 * SIGPROF, from the start to the end, and writes gmon.out.
 */
#include <stdio.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void gprof_work(void)
{
    for (unsigned long i = 0; i < 20000; i++) {
        sink += i * sink + 1;
    }
}

/* A fixed number of calls, and at least 300 ms of CPU time in another function. */
__attribute__((noinline)) static void gprof_wait(void)
{
    struct timespec now;
    do {
        for (unsigned long i = 0; i < 20000; i++) {
            sink += i * sink + 1;
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 300 * 1000 * 1000);
}

int main(void)
{
    for (int i = 0; i < 200; i++) {
        gprof_work();
    }
    gprof_wait();
    puts("done");
    return 42;
}
