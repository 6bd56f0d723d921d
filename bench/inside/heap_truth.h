/* SPDX-License-Identifier: MIT
 *
 * heap_truth.h: a program whose allocations are known to the byte, beside what the heap profile
 * estimates them to be.
 *
 * Twelve call sites allocate blocks of one size each, 16 bytes to 4 MiB, in turns; every other
 * block is freed before the estimate is read, so that half of them are in use. All that is drawn at
 * random follows from the seed of the run. Shared by bench/inside/heap_accuracy.c and
 * test/unit/test_heap_accuracy.c.
 */
#ifndef BENCH_HEAP_TRUTH_H
#define BENCH_HEAP_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HEAP_TRUTH_SITES = 12,
    HEAP_TRUTH_RATES = 3 /* at most, of one run */
};

typedef struct heap_truth_plan {
    uint64_t site_bytes; /* each site allocates this much, and at least 16 blocks */
    uint64_t rates[HEAP_TRUTH_RATES];
    uint32_t rate_count; /* several: changed from one turn to the next */
} heap_truth_plan;

typedef enum heap_truth_value {
    HEAP_TRUTH_ALLOC_OBJECTS,
    HEAP_TRUTH_ALLOC_BYTES,
    HEAP_TRUTH_INUSE_OBJECTS,
    HEAP_TRUTH_INUSE_BYTES,
    HEAP_TRUTH_VALUES
} heap_truth_value;

typedef struct heap_truth_site {
    uint64_t size;
    double truth[HEAP_TRUTH_VALUES];
    double variance[HEAP_TRUTH_VALUES]; /* of the estimate, by theory */
    double estimate[HEAP_TRUTH_VALUES];
} heap_truth_site;

/*
 * Runs the plan in a child of fork, since what a process has allocated it cannot undo. False if the
 * child failed: blocks were still in use after all were freed, or malloc is not hooked in this
 * build (`*hooked`).
 */
bool heap_truth_run(const heap_truth_plan *plan, uint64_t seed,
                    heap_truth_site sites[HEAP_TRUTH_SITES], bool *hooked);

/* What is learned of one value of one site from several runs. */
typedef struct heap_truth_summary {
    double mean, truth;
    double standard_errors; /* how many of them the mean is away from the truth */
    double spread;          /* standard deviation of the runs over that by theory; 0: too rare */
} heap_truth_summary;

void heap_truth_summarize(const heap_truth_site *runs, unsigned run_count, unsigned site,
                          heap_truth_value value, heap_truth_summary *summary);

extern const char *const heap_truth_value_names[HEAP_TRUTH_VALUES];

#endif
