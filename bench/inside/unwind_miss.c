/* SPDX-License-Identifier: MIT
 *
 * unwind_miss.c: what it costs to meet a PC for the first time: module, CFI, rule, publication.
 *
 * A stack is walked after the rule cache has been emptied, and once more; the difference is divided
 * by the number of different PCs on the stack. First as long as the library does not know which
 * modules can go away, so that it reads all CFI through system calls ("removable", as with whatever
 * was dlopen'ed), then after a profile has been started ("linked": CFI is read in place). Linked
 * against the library's objects, since nobody outside can empty its cache.
 */
#include "chain.h"
#include "measure.h"
#include "profilers.h"

#include "unwind/rule_cache.h"

#include <pprof.h>

enum { DEPTH = 56, REPETITIONS = 400, QUICK_REPETITIONS = 100 };

static double miss_ns;

static size_t count_different(const uintptr_t *pcs, size_t count)
{
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < i && pcs[j] != pcs[i]) {
            j++;
        }
        different += j == i;
    }
    return different;
}

static void walk_twice(chain *c)
{
    (void)c;
    uintptr_t pcs[DEPTH];
    pp_rule_cache_clear();
    uint64_t start_ns = bench_now_ns();
    pprof_callers(0, pcs, DEPTH);
    uint64_t cold_ns = bench_now_ns() - start_ns;
    start_ns = bench_now_ns();
    size_t depth = pprof_callers(0, pcs, DEPTH);
    uint64_t warm_ns = bench_now_ns() - start_ns;
    miss_ns = ((double)cold_ns - (double)warm_ns) / (double)count_different(pcs, depth);
}

static void measure(const char *name)
{
    static double each[REPETITIONS];
    uint64_t random_state = UINT64_C(0x123456789abcdef1);
    unsigned repetitions = bench_quick() ? QUICK_REPETITIONS : REPETITIONS;
    for (unsigned i = 0; i < repetitions; i++) {
        chain c = {.path = bench_random(&random_state), .bottom = walk_twice};
        chain_descend_plain(&c, DEPTH);
        each[i] = miss_ns;
    }
    bench_print(name, bench_median(each, repetitions), "ns");
}

int main(void)
{
    measure("unwind.rule_miss_removable.pprof");
    profiler_start(100);
    profiler_stop();
    measure("unwind.rule_miss_linked.pprof");
    return 0;
}
