/* SPDX-License-Identifier: MIT
 *
 * slices.c: what a running profiler takes from its host's CPU time, within one process.
 *
 * usage: slices HZ PAIRS ROUNDS
 *
 * A slice is ROUNDS rounds of the same work (victims/work_rounds.h). Each pair is one slice with
 * and one without the profiler running, in alternating order; starting and stopping is not timed.
 * One process has one memory layout and one set of warm caches, so that much smaller differences
 * can be seen than between processes; what a profile costs at start and end is left to those
 * (pairs.c).
 */
#include "measure.h"
#include "profilers.h"
#include "victims/work_rounds.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_PAIRS = 2000, WARM_UP = 3 };

static volatile uint64_t kept;

static void run_rounds(unsigned long rounds)
{
    for (unsigned long i = 0; i < rounds; i++) {
        kept = work_round();
    }
}

static double time_slice(unsigned long rounds)
{
    run_rounds(WARM_UP); /* what a start or stop has left cold */
    uint64_t start_ns = bench_process_cpu_ns();
    run_rounds(rounds);
    return (double)(bench_process_cpu_ns() - start_ns);
}

static double time_profiled_slice(int hz, unsigned long rounds)
{
    profiler_start(hz);
    double elapsed = time_slice(rounds);
    profiler_stop();
    return elapsed;
}

int main(int argc, char **argv)
{
    static double percent[MAX_PAIRS];
    int hz = argc == 4 ? (int)strtol(argv[1], NULL, 10) : 0;
    unsigned long pairs = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned long rounds = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (hz < 1 || pairs < 1 || pairs > MAX_PAIRS || rounds < 1) {
        bench_fail("usage: slices HZ PAIRS ROUNDS");
    }
    time_profiled_slice(hz, rounds);
    for (unsigned long i = 0; i < pairs; i++) {
        double with = i % 2 == 0 ? time_profiled_slice(hz, rounds) : 0;
        double without = time_slice(rounds);
        with = i % 2 == 0 ? with : time_profiled_slice(hz, rounds);
        percent[i] = (with / without - 1) * 100;
    }
    double low = 0;
    double high = 0;
    double median = bench_median(percent, pairs);
    bench_median_bounds(percent, pairs, &low, &high);
    printf("cpu_overhead.slices_%dhz.%s %.3g %% %.3g %.3g\n", hz, profiler_name, median, low, high);
    return 0;
}
