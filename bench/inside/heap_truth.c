/* SPDX-License-Identifier: MIT
 *
 * heap_truth.c: the program, its truth and its estimates (heap_truth.h).
 *
 * Theory. A block of s bytes is sampled with the probability p = 1 - e^(-s/rate), independently of
 * all others, since the distance to the next sampled byte has no memory. A sample stands for 1/p
 * blocks. The estimate of n blocks is binomial(n, p)/p: its expectation is n, its variance
 * n (1 - p) / p.
 */
#include "heap_truth.h"

#include "base/arena.h"
#include "kinds/heap/heap_profile.h"
#include "kinds/heap/heap.h"

#include "pprof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 16, LEAST_BLOCKS = TURNS };

static const uint64_t sizes[HEAP_TRUTH_SITES] = {16,    24,    100,   256,    1000,    4096,
                                                 16384, 50000, 65536, 262144, 1048576, 4194304};

const char *const heap_truth_value_names[HEAP_TRUTH_VALUES] = {"alloc_objects", "alloc_bytes",
                                                               "inuse_objects", "inuse_bytes"};

static uint64_t blocks_a_turn(const heap_truth_plan *plan, unsigned site)
{
    uint64_t blocks = plan->site_bytes / sizes[site];
    return (blocks > LEAST_BLOCKS ? blocks : LEAST_BLOCKS) / TURNS / 2 * 2 + 2;
}

/* ---- the truth ---- */

static void tell_truth(const heap_truth_plan *plan, unsigned site, heap_truth_site *told)
{
    double size = (double)sizes[site];
    double blocks = (double)blocks_a_turn(plan, site);
    told->size = sizes[site];
    for (unsigned turn = 0; turn < TURNS; turn++) {
        double rate = (double)plan->rates[turn % plan->rate_count];
        double p = -expm1(-size / rate);
        double variance = blocks * (1 - p) / p;
        told->truth[HEAP_TRUTH_ALLOC_OBJECTS] += blocks;
        told->variance[HEAP_TRUTH_ALLOC_OBJECTS] += variance;
        told->truth[HEAP_TRUTH_INUSE_OBJECTS] += blocks / 2;
        told->variance[HEAP_TRUTH_INUSE_OBJECTS] += variance / 2;
    }
    for (int objects = 0; objects < HEAP_TRUTH_VALUES; objects += 2) {
        told->truth[objects + 1] = told->truth[objects] * size;
        told->variance[objects + 1] = told->variance[objects] * size * size;
    }
}

/* ---- the program ---- */

typedef struct block {
    struct block *next;
} block;

static block *kept;

/* Every other block goes to the list, the rest is freed. */
__attribute__((noinline)) static void allocate_at_site(uint64_t size, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        block *made = malloc(size);
        if (made == NULL) {
            _exit(3);
        }
        if (i % 2 == 0) {
            made->next = kept;
            kept = made;
        } else {
            free(made);
        }
    }
}

static void free_all(void)
{
    while (kept != NULL) {
        block *next = kept->next;
        free(kept);
        kept = next;
    }
}

/* ---- the estimate ---- */

static heap_truth_site *site_of(heap_truth_site *sites, const pp_profile_sample *sample)
{
    for (unsigned i = 0; i < HEAP_TRUTH_SITES; i++) {
        if (sample->label_count > 0 && sample->labels[0].number == (int64_t)sizes[i]) {
            return &sites[i];
        }
    }
    return NULL;
}

static void read_estimates(heap_truth_site *sites)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    if (pp_heap_profile_build(PP_HEAP_INUSE, &arena, &profile) != 0) {
        _exit(4);
    }
    for (size_t i = 0; i < profile.sample_count; i++) {
        heap_truth_site *site = site_of(sites, &profile.samples[i]);
        for (int value = 0; site != NULL && value < HEAP_TRUTH_VALUES; value++) {
            site->estimate[value] += (double)profile.samples[i].value[value];
        }
    }
    pp_arena_release(&arena);
}

static bool is_in_use(const heap_truth_site *sites)
{
    for (unsigned i = 0; i < HEAP_TRUTH_SITES; i++) {
        if (sites[i].estimate[HEAP_TRUTH_INUSE_OBJECTS] != 0 ||
            sites[i].estimate[HEAP_TRUTH_INUSE_BYTES] != 0) {
            return true;
        }
    }
    return false;
}

enum { GOOD = 0, STILL_IN_USE = 5, NOT_HOOKED = 6 };

/* Seeds that lie next to each other must not begin sequences that are shifts of each other. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static void run_child(const heap_truth_plan *plan, uint64_t seed, int to)
{
    heap_truth_site sites[HEAP_TRUTH_SITES] = {{0}};
    pprof_set_mem_profile_rate(0); /* what the process has done before this is not counted */
    for (unsigned turn = 0; turn < TURNS; turn++) {
        pprof_set_mem_profile_rate((int64_t)plan->rates[turn % plan->rate_count]);
        pp_heap_seed(mix(seed * TURNS + turn));
        for (unsigned i = 0; i < HEAP_TRUTH_SITES; i++) {
            allocate_at_site(sizes[i], blocks_a_turn(plan, i));
        }
    }
    pprof_set_mem_profile_rate(0);
    read_estimates(sites);
    if (sites[HEAP_TRUTH_SITES - 1].estimate[HEAP_TRUTH_ALLOC_OBJECTS] == 0) {
        _exit(NOT_HOOKED);
    }
    if (write(to, sites, sizeof sites) != (ssize_t)sizeof sites) {
        _exit(1);
    }
    free_all();
    memset(sites, 0, sizeof sites);
    read_estimates(sites);
    _exit(is_in_use(sites) ? STILL_IN_USE : GOOD);
}

bool heap_truth_run(const heap_truth_plan *plan, uint64_t seed,
                    heap_truth_site sites[HEAP_TRUTH_SITES], bool *hooked)
{
    int ends[2];
    *hooked = true;
    if (pipe(ends) != 0) {
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        run_child(plan, seed, ends[1]);
    }
    close(ends[1]);
    size_t wanted = sizeof *sites * HEAP_TRUTH_SITES;
    bool whole = child > 0 && read(ends[0], sites, wanted) == (ssize_t)wanted;
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return false;
    }
    *hooked = WEXITSTATUS(status) != NOT_HOOKED;
    for (unsigned i = 0; whole && i < HEAP_TRUTH_SITES; i++) {
        tell_truth(plan, i, &sites[i]);
    }
    return whole && WEXITSTATUS(status) == GOOD;
}

/* ---- several runs ---- */

void heap_truth_summarize(const heap_truth_site *runs, unsigned run_count, unsigned site,
                          heap_truth_value value, heap_truth_summary *summary)
{
    double sum = 0;
    double squares = 0;
    const heap_truth_site *first = &runs[site];
    for (unsigned i = 0; i < run_count; i++) {
        double off = runs[i * HEAP_TRUTH_SITES + site].estimate[value] - first->truth[value];
        sum += off;
        squares += off * off;
    }
    double mean_off = sum / run_count;
    double deviation = sqrt((squares - sum * mean_off) / (run_count - 1));
    double by_theory = sqrt(first->variance[value]);
    summary->truth = first->truth[value];
    summary->mean = first->truth[value] + mean_off;
    /* By theory, not by the runs: where a sample is certain the runs may all be the same. */
    summary->standard_errors = by_theory > 0 ? mean_off / (by_theory / sqrt(run_count)) : 0;
    double blocks_missed = first->variance[HEAP_TRUTH_INUSE_OBJECTS];
    summary->spread = blocks_missed > 1 ? deviation / by_theory : 0;
}
