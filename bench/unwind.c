/* SPDX-License-Identifier: MIT
 *
 * unwind.c: what one frame of a stack walk costs, beside the peers.
 *
 *   changing   each walk meets a stack that no walk has met before, of functions that all have:
 *              what a profiler of a busy program does. One walk a measurement.
 *   repeated   the same stack again and again: what a profiler of a tight loop, or of malloc, does.
 *              Many walks a measurement.
 *
 * Walkers take turns, a block of walks each, for many rounds; a block gives its median, and the
 * result is the median of the blocks. The clock's own cost, measured in the same round with a
 * walker that does nothing, is taken off. All stop after `depth` frames, so that they do the same
 * work.
 */
#include "measure.h"
#include "walkers.h"

#include <dlfcn.h>
#include <pprof.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

enum {
    MAX_FRAMES = 128,
    MAX_WALKERS = 16,
    MAX_BLOCK = 400,
    MAX_ROUNDS = 60,
    QUICK_ROUNDS = 10,
    BATCH = 50, /* walks of a repeated stack between two looks at the clock */
    CALLERS_DEPTH = 30
};

/* ---- the walkers ---- */

static __attribute__((noinline)) size_t walk_nothing(const chain *c, void **pcs, size_t capacity)
{
    (void)c, (void)pcs;
    return capacity;
}

static __attribute__((noinline)) size_t walk_pprof(const chain *c, void **pcs, size_t capacity)
{
    (void)c;
    size_t depth = pprof_callers(0, (uintptr_t *)pcs, capacity);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return depth;
}

/* libunwind defines backtrace() and the _Unwind_ functions too, and would be found first: these are
 * taken from the libraries that they are named for. */
static int (*glibc_backtrace)(void **buffer, int size);
static __typeof__(_Unwind_Backtrace) *libgcc_backtrace;
static __typeof__(_Unwind_GetIP) *libgcc_get_ip;

static void *find_function(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY);
    void *function = handle != NULL ? dlsym(handle, name) : NULL;
    if (function == NULL) {
        bench_fail("%s has no %s", library, name);
    }
    /* cppcheck-suppress resourceLeak; the library stays loaded as long as its function is used */
    return function;
}

static void find_functions(void)
{
    glibc_backtrace = (__typeof__(glibc_backtrace))find_function("libc.so.6", "backtrace");
    libgcc_backtrace =
        (__typeof__(libgcc_backtrace))find_function("libgcc_s.so.1", "_Unwind_Backtrace");
    libgcc_get_ip = (__typeof__(libgcc_get_ip))find_function("libgcc_s.so.1", "_Unwind_GetIP");
}

static __attribute__((noinline)) size_t walk_glibc(const chain *c, void **pcs, size_t capacity)
{
    (void)c;
    int depth = glibc_backtrace(pcs, (int)capacity);
    __asm__ volatile("" ::: "memory");
    return depth > 0 ? (size_t)depth : 0;
}

typedef struct collected {
    void **pcs;
    size_t depth, capacity;
} collected;

static _Unwind_Reason_Code collect(struct _Unwind_Context *context, void *argument)
{
    collected *all = argument;
    if (all->depth == all->capacity) {
        return _URC_END_OF_STACK;
    }
    all->pcs[all->depth++] = (void *)libgcc_get_ip(context);
    return _URC_NO_REASON;
}

static __attribute__((noinline)) size_t walk_libgcc(const chain *c, void **pcs, size_t capacity)
{
    (void)c;
    collected all = {.pcs = pcs, .capacity = capacity};
    libgcc_backtrace(collect, &all);
    return all.depth;
}

/*
 * What a frame-pointer unwinder does at best: two loads a frame, and the check that the chain rises
 * and stays on the stack. This file is compiled with frame pointers for its sake.
 */
static __attribute__((noinline)) size_t walk_frame_pointer(const chain *c, void **pcs,
                                                           size_t capacity)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    size_t depth = 0;
    while (depth < capacity) {
        const uintptr_t *words = (const uintptr_t *)frame;
        pcs[depth++] = (void *)words[1];
        uintptr_t next = words[0];
        if (next <= frame || next > c->top) {
            break;
        }
        frame = next;
    }
    return depth;
}

static const walker own_walkers[] = {
    {"pprof", walk_pprof, chain_descend_plain, 400},
    {"libgcc", walk_libgcc, chain_descend_plain, 40},
    {"glibc_backtrace", walk_glibc, chain_descend_plain, 40},
    {"frame_pointer", walk_frame_pointer, chain_descend_frame_pointer, 400},
    {NULL, NULL, NULL, 0},
};

static const walker clock_alone = {"nothing", walk_nothing, chain_descend_plain, 400};

/* ---- one measurement, at the bottom of the stack ---- */

typedef struct measurement {
    chain chain; /* first: bottom() gets this */
    const walker *walker;
    size_t depth;
    unsigned batch;
    double elapsed_ns; /* of one walk */
    size_t frames;
    void *pcs[MAX_FRAMES];
} measurement;

static void measure_here(chain *c)
{
    measurement *m = (measurement *)c;
    size_t frames = 0;
    uint64_t start_ns = bench_now_ns();
    for (unsigned i = 0; i < m->batch; i++) {
        frames = m->walker->walk(c, m->pcs, m->depth);
    }
    uint64_t end_ns = bench_now_ns();
    m->frames = frames;
    m->elapsed_ns = (double)(end_ns - start_ns) / m->batch;
}

static uint64_t paths = UINT64_C(0x1234567890abcdef);

/* Walks as many stacks as the walker has repetitions; the middle time of one walk. */
static double run_block(const walker *w, size_t depth, bool changing)
{
    static double elapsed[MAX_BLOCK];
    measurement m = {.walker = w, .depth = depth, .batch = changing ? 1 : BATCH};
    unsigned repetitions = changing ? w->repetitions : w->repetitions / BATCH + 2;
    m.chain.bottom = measure_here;
    for (unsigned i = 0; i < repetitions; i++) {
        m.chain.path = bench_random(&paths);
        w->descend(&m.chain, (unsigned)depth + 4);
        elapsed[i] = m.elapsed_ns;
        if (m.frames != depth) {
            bench_fail("%s gave %zu of %zu frames", w->name, m.frames, depth);
        }
    }
    return bench_middle_mean(elapsed, repetitions);
}

/* ---- rounds ---- */

static size_t gather(const walker **walkers)
{
    size_t count = 0;
    for (const walker *w = own_walkers; w->name != NULL; w++) {
        walkers[count++] = w;
    }
    for (const walker *w = libunwind_walkers; w->name != NULL; w++) {
        walkers[count++] = w;
    }
    return count;
}

/* The median of a walk of each walker over the rounds, the clock taken off. */
static void run_rounds(const walker **walkers, size_t count, size_t depth, bool changing,
                       double *result)
{
    static double blocks[MAX_WALKERS][MAX_ROUNDS];
    unsigned rounds = bench_quick() ? QUICK_ROUNDS : MAX_ROUNDS;
    for (size_t i = 0; i < count; i++) {
        run_block(walkers[i], depth, changing); /* warm */
    }
    for (unsigned round = 0; round < rounds; round++) {
        double clock_ns = run_block(&clock_alone, depth, changing);
        for (size_t i = 0; i < count; i++) {
            size_t turn = (i + round) % count;
            blocks[turn][round] = run_block(walkers[turn], depth, changing) - clock_ns;
        }
    }
    for (size_t i = 0; i < count; i++) {
        result[i] = bench_median(blocks[i], rounds);
    }
}

static void measure_frames(const walker **walkers, size_t count, size_t depth, bool changing)
{
    double walk_ns[MAX_WALKERS];
    char name[128];
    run_rounds(walkers, count, depth, changing, walk_ns);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "unwind.%s.%zu.%s", changing ? "changing" : "repeated", depth,
                 walkers[i]->name);
        bench_print(name, walk_ns[i] / (double)depth, "ns");
    }
}

/* pprof_callers() as a whole, as Go states the cost of runtime.Callers. */
static void measure_callers(const walker **walkers, size_t count)
{
    double walk_ns[MAX_WALKERS];
    char name[128];
    for (int changing = 1; changing >= 0; changing--) {
        run_rounds(walkers, count, CALLERS_DEPTH, changing, walk_ns);
        for (size_t i = 0; i < count; i++) {
            snprintf(name, sizeof name, "unwind.callers_%s.%d.%s",
                     changing ? "changing" : "repeated", CALLERS_DEPTH, walkers[i]->name);
            bench_print(name, walk_ns[i], "ns");
        }
    }
}

/* ---- do they walk the same stack? ---- */

/* Looks for what we found, without our own leaf frame, in what the peer found. */
static void compare_with_pprof(chain *c)
{
    measurement *m = (measurement *)c;
    void *ours[MAX_FRAMES];
    size_t depth = walk_pprof(c, ours, m->depth);
    size_t theirs = m->walker->walk(c, m->pcs, m->depth);
    m->frames = 0;
    /* Their leaf frames: at most a few of their own. */
    for (size_t skip = 0; skip < 5 && skip < theirs; skip++) {
        size_t same = theirs - skip < depth - 2 ? theirs - skip : depth - 2;
        if (memcmp(m->pcs + skip, ours + 2, same * sizeof *ours) == 0) {
            m->frames = same;
            return;
        }
    }
}

static void check_agreement(const walker **walkers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        measurement m = {.walker = walkers[i], .depth = 56};
        m.chain.bottom = compare_with_pprof;
        unsigned agreed = 0;
        for (unsigned repetition = 0; repetition < 100; repetition++) {
            m.chain.path = bench_random(&paths);
            walkers[i]->descend(&m.chain, 60);
            agreed += m.frames >= 50;
        }
        if (agreed != 100) {
            printf("# unwind: %s and pprof agree on %u of 100 stacks\n", walkers[i]->name, agreed);
        }
    }
}

int main(void)
{
    static const size_t depths[] = {16, 56, 96};
    const walker *walkers[MAX_WALKERS];
    size_t count = gather(walkers);
    find_functions();
    if (libunwind_walkers[0].name == NULL) {
        puts("# not installed: libunwind");
    }
    check_agreement(walkers, count);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        measure_frames(walkers, count, depths[i], true);
    }
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        measure_frames(walkers, count, depths[i], false);
    }
    measure_callers(walkers, count);
    return 0;
}
