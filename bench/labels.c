/* SPDX-License-Identifier: MIT
 *
 * labels.c: what labels cost the program: the thread's set is replaced, a set is made for a
 * request.
 *
 *   switch    pprof_set_thread_labels() and the end of the reference that it returns. Beside it
 *             two_counters: one is incremented and the other decremented, each by one locked
 *             instruction; and two_calls: the same by two functions, with the store of a pointer in
 *             between. A locked instruction waits for the stores before it, and a call stores its
 *             return address: so two_calls is the least that a switch of counted references can take.
 *   switch_ratio   of switch to two_calls, in blocks by turns
 *   new       pprof_labels_new() of two labels on a parent that has one, and its end
 *   do        pprof_do() with one label around an empty function
 *   inherit   pprof_do() in another pprof_do() that has two labels
 */
#include "measure.h"

#include <pprof.h>

#include <stdio.h>

enum { BLOCK = 10000, BLOCKS = 300, QUICK_BLOCKS = 50, SETS = 4 };

static pprof_labels *sets[SETS];
static const char *const one[] = {"path", "/index.html"};
static const char *const two[] = {"path", "/index.html", "request", "8f14e45fceea167a"};

static void switch_block(void)
{
    for (unsigned i = 0; i < BLOCK; i++) {
        pprof_labels_unref(pprof_set_thread_labels(sets[i % SETS]));
    }
}

static uint32_t counters[SETS][16]; /* a cache line each */

static void counters_block(void)
{
    for (unsigned i = 0; i < BLOCK; i++) {
        __atomic_fetch_add(&counters[i % SETS][0], 1, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&counters[(i + SETS - 1) % SETS][0], 1, __ATOMIC_RELAXED);
    }
}

__attribute__((noinline)) static void increment(uint32_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void decrement(uint32_t *counter)
{
    __atomic_fetch_sub(counter, 1, __ATOMIC_RELAXED);
}

static void calls_block(void)
{
    static uint32_t *current;
    for (unsigned i = 0; i < BLOCK; i++) {
        increment(counters[i % SETS]);
        __atomic_store_n(&current, counters[i % SETS], __ATOMIC_RELEASE);
        decrement(counters[(i + SETS - 1) % SETS]);
    }
}

static void new_block(void)
{
    for (unsigned i = 0; i < BLOCK; i++) {
        pprof_labels_unref(pprof_labels_new(sets[0], two, 2));
    }
}

static void nothing(void *unused)
{
    __asm__ volatile("" : : "r"(unused) : "memory");
}

static void do_block(void *unused)
{
    for (unsigned i = 0; i < BLOCK; i++) {
        pprof_do(one, 1, nothing, unused);
    }
}

static void plain_do_block(void)
{
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    do_block(NULL);
}

static void inherit_block(void)
{
    pprof_do(two, 2, do_block, NULL);
}

static double time_of(void (*block)(void))
{
    uint64_t start_ns = bench_thread_cpu_ns();
    block();
    return (double)(bench_thread_cpu_ns() - start_ns) / BLOCK;
}

static void measure_ratio(const char *name, void (*block)(void), void (*other)(void))
{
    static double ratios[BLOCKS];
    unsigned blocks = bench_quick() ? QUICK_BLOCKS : BLOCKS;
    for (unsigned i = 0; i < blocks; i++) {
        double other_ns = time_of(other);
        ratios[i] = time_of(block) / other_ns;
    }
    bench_print(name, bench_median(ratios, blocks), "x");
}

static void measure(const char *name, const char *who, void (*block)(void))
{
    static double times[BLOCKS];
    char full[64];
    unsigned blocks = bench_quick() ? QUICK_BLOCKS : BLOCKS;
    block();
    for (unsigned i = 0; i < blocks; i++) {
        times[i] = time_of(block);
    }
    snprintf(full, sizeof full, "labels.%s.%s", name, who);
    bench_print(full, bench_median(times, blocks), "ns");
}

int main(void)
{
    for (unsigned i = 0; i < SETS; i++) {
        char text[16];
        snprintf(text, sizeof text, "tenant-%u", i);
        sets[i] = pprof_labels_new(NULL, (const char *const[]){"tenant", text}, 1);
        if (sets[i] == NULL) {
            bench_fail("no set could be made");
        }
    }
    measure("switch", "pprof", switch_block);
    measure("switch", "two_counters", counters_block);
    measure("switch", "two_calls", calls_block);
    measure_ratio("labels.switch_ratio.pprof", switch_block, calls_block);
    measure("new", "pprof", new_block);
    measure("do", "pprof", plain_do_block);
    measure("inherit", "pprof", inherit_block);
    return 0;
}
