/* SPDX-License-Identifier: MIT
 *
 * unwind_miss.c: what it costs to meet a PC for the first time: module, CFI, rule, publication.
 *
 * A stack is walked after the rule cache has been emptied, and once more; the difference is divided
 * by the number of different PCs on the stack.
 *
 *   linked      the module cannot be unloaded: its CFI is read in place
 *   removable   as a dlopen'ed one, whose CFI is copied by system calls: how all modules are taken
 *               before a profile was started
 *   ..._first   likewise, but the pages of the CFI were dropped before, or the copies of it
 *
 * Linked against the library's objects, since nobody outside can empty its caches.
 */
#include "chain.h"
#include "measure.h"
#include "profilers.h"

#include "unwind/copies.h"
#include "unwind/rule_cache.h"

#include <link.h>
#include <pprof.h>
#include <sys/mman.h>

enum { DEPTH = 56, REPETITIONS = 400, QUICK_REPETITIONS = 100 };

enum { PAGE = 4096 };

static double miss_ns;
static void (*forget_cfi)(void);

/* Of the program itself, with .eh_frame behind it. */
static int drop_segment(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    uintptr_t header = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
            header = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        }
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = (info->dlpi_addr + segment->p_vaddr) & ~(uintptr_t)(PAGE - 1);
        uintptr_t end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        if (segment->p_type == PT_LOAD && header >= begin && header < end) {
            madvise((void *)begin, end - begin, MADV_DONTNEED);
        }
    }
    return 1;
}

/* What was never touched since it was mapped: the kernel has it, the page table has not. */
static void drop_pages(void)
{
    dl_iterate_phdr(drop_segment, NULL);
}

static void forget_nothing(void)
{
}

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
    forget_cfi();
    uint64_t start_ns = bench_now_ns();
    pprof_callers(0, pcs, DEPTH);
    uint64_t cold_ns = bench_now_ns() - start_ns;
    start_ns = bench_now_ns();
    size_t depth = pprof_callers(0, pcs, DEPTH);
    uint64_t warm_ns = bench_now_ns() - start_ns;
    miss_ns = ((double)cold_ns - (double)warm_ns) / (double)count_different(pcs, depth);
}

static void measure(const char *name, void (*forget)(void))
{
    forget_cfi = forget;
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
    measure("unwind.rule_miss_removable.pprof", forget_nothing);
    measure("unwind.rule_miss_removable_first.pprof", pp_copies_clear);
    profiler_start(100);
    profiler_stop();
    measure("unwind.rule_miss_linked.pprof", forget_nothing);
    measure("unwind.rule_miss_linked_first.pprof", drop_pages);
    return 0;
}
