/* SPDX-License-Identifier: MIT
 *
 * sample_parts.c: the parts of a CPU sample: the walk from a signal's context, and its count.
 *
 * Inside a handler, at the bottom of a stack of 30 frames, both are repeated and timed. Linked
 * against the library's objects.
 */
#include "chain.h"
#include "measure.h"

#include "store/stack_counts.h"
#include "unwind/walk.h"

#include <signal.h>

enum {
    DEPTH = 30,
    OUTER_FRAMES = 7,
    BATCH = 200,
    REPETITIONS = 200,
    QUICK_REPETITIONS = 50,
    ROOM = 128,
    TABLE_BYTES = 1 << 24
};

static pp_stack_counts *counts;
static double walk_ns, record_ns;

static void time_parts(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    uintptr_t pcs[ROOM];
    static pp_walk_space space;
    pp_walk walk = {.pcs = pcs, .space = &space, .capacity = DEPTH, .wants_hash = true};
    pp_walk_from_context(context, &walk);
    pp_stack_counts_record(counts, pcs, walk.depth, walk.hash, 1);
    uint64_t start_ns = bench_now_ns();
    for (unsigned i = 0; i < BATCH; i++) {
        pp_walk_from_context(context, &walk);
    }
    uint64_t walked_ns = bench_now_ns();
    for (unsigned i = 0; i < BATCH; i++) {
        pp_stack_counts_record(counts, pcs, walk.depth, walk.hash, 1);
    }
    uint64_t recorded_ns = bench_now_ns();
    walk_ns = (double)(walked_ns - start_ns) / BATCH;
    record_ns = (double)(recorded_ns - walked_ns) / BATCH;
}

static void raise_here(chain *c)
{
    (void)c;
    raise(SIGUSR1);
}

int main(void)
{
    static double walks[REPETITIONS];
    static double records[REPETITIONS];
    struct sigaction action = {.sa_sigaction = time_parts, .sa_flags = SA_SIGINFO};
    uint64_t random_state = UINT64_C(0x123456789abcdef1);
    unsigned repetitions = bench_quick() ? QUICK_REPETITIONS : REPETITIONS;
    counts = pp_stack_counts_new(TABLE_BYTES);
    if (counts == NULL || sigaction(SIGUSR1, &action, NULL) != 0) {
        bench_fail("no table or no handler");
    }
    for (unsigned i = 0; i < repetitions; i++) {
        chain c = {.path = bench_random(&random_state), .bottom = raise_here};
        chain_descend_plain(&c, DEPTH - OUTER_FRAMES);
        walks[i] = walk_ns;
        records[i] = record_ns;
    }
    bench_print("sample_cost.walk.pprof", bench_median(walks, repetitions), "ns");
    bench_print("sample_cost.record.pprof", bench_median(records, repetitions), "ns");
    return 0;
}
