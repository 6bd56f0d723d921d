/* SPDX-License-Identifier: MIT
 *
 * heap_accuracy.c: whether the heap profile's estimates are right on the average, and as far off as
 * theory says they are: 30 runs (or the number given) of a program whose allocations are known
 * (heap_truth.h), at 512 KiB, at 64 KiB, and with the rate changing during the run.
 *
 * For each site and value: the mean over the truth, how many standard errors it is away, and the
 * standard deviation over that by theory. The last lines are what the claim is: how many of the
 * means lie within two standard errors (95 % of them if the estimates are unbiased and normal), the
 * root mean square of their distances (1), and the mean of the spreads (1).
 */
#include "heap_truth.h"
#include "measure.h"
#include "pprof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    heap_truth_plan plan;
} configurations[] = {
    {"512k", {64 << 20, {512 << 10}, 1}},
    {"64k", {32 << 20, {64 << 10}, 1}},
    {"changing", {32 << 20, {16 << 10, 512 << 10, 128 << 10}, 3}},
};

typedef struct totals {
    unsigned values, near, spreads;
    double squares, spread;
} totals;

static void print_site(const char *configuration, uint64_t size, const char *value,
                       const heap_truth_summary *summary, totals *all)
{
    char name[128];
    snprintf(name, sizeof name, "heap_accuracy.%s.%llu.%s", configuration, (unsigned long long)size,
             value);
    char unit[128];
    snprintf(unit, sizeof unit, "of_truth   %+.2f standard errors, spread %.2f",
             summary->standard_errors, summary->spread);
    bench_print(name, summary->mean / summary->truth, unit);
    all->values++;
    all->near += fabs(summary->standard_errors) <= 2;
    all->squares += summary->standard_errors * summary->standard_errors;
    all->spreads += summary->spread > 0;
    all->spread += summary->spread;
}

static void measure(size_t index, unsigned run_count)
{
    heap_truth_site *runs = calloc((size_t)run_count * HEAP_TRUTH_SITES, sizeof *runs);
    if (runs == NULL) {
        bench_fail("no memory");
    }
    for (unsigned i = 0; i < run_count; i++) {
        bool hooked = false;
        if (!heap_truth_run(&configurations[index].plan, i + 1, &runs[(size_t)i * HEAP_TRUTH_SITES],
                            &hooked)) {
            bench_fail(hooked ? "run %u failed, or left blocks in use" : "run %u: not hooked", i);
        }
    }
    totals all = {0};
    for (unsigned site = 0; site < HEAP_TRUTH_SITES; site++) {
        for (int value = 0; value < HEAP_TRUTH_VALUES; value += 1) {
            heap_truth_summary summary;
            heap_truth_summarize(runs, run_count, site, (heap_truth_value)value, &summary);
            print_site(configurations[index].name, runs[site].size, heap_truth_value_names[value],
                       &summary, &all);
        }
    }
    char name[128];
    snprintf(name, sizeof name, "heap_accuracy.%s.within_2_standard_errors",
             configurations[index].name);
    bench_print(name, 100.0 * all.near / all.values, "percent");
    snprintf(name, sizeof name, "heap_accuracy.%s.distance", configurations[index].name);
    bench_print(name, sqrt(all.squares / all.values), "standard_errors");
    snprintf(name, sizeof name, "heap_accuracy.%s.spread", configurations[index].name);
    bench_print(name, all.spread / all.spreads, "of_theory");
    free(runs);
}

int main(int argc, char **argv)
{
    unsigned run_count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : bench_quick() ? 6 : 30;
    if (run_count < 2) {
        bench_fail("usage: heap_accuracy [RUNS]");
    }
    pprof_set_mem_profile_rate(0); /* blocks of this process would be in use in each run's child */
    for (size_t i = 0; i < sizeof configurations / sizeof *configurations; i++) {
        measure(i, run_count);
    }
    return 0;
}
