/* SPDX-License-Identifier: MIT
 *
 * malloc.c: what a call of the allocator costs in this process, whatever was preloaded.
 *
 * usage: malloc WORKLOAD...
 *
 *   pair          malloc(64), free, again: the fastest case of every allocator
 *   ring          blocks of 16 to 1039 bytes, 4096 of them alive, freed in the order they came
 *   big_ring      the same with two million alive: caches and page tables do not hold them
 *   two_threads   ring on two threads at once
 *   calloc        1 GiB from calloc, not touched, freed
 *   realloc       a block grown from 4 KiB to 64 MiB by doubling
 *   cxx           operator new(64), operator delete, again
 *   sampled       malloc(64) and free below 20 frames, for a rate at which each block is sampled
 *
 * prints: WORKLOAD NANOSECONDS, each a middle mean over many short batches, so that what else runs
 * on the machine falls out.
 */
#include "measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCHES = 400,
    RING = 4096,
    BIG_RING = 2000000,
    SIZES = 1 << 16,
    LEAST = 16,
    SPAN = 1024,
    GIGABYTE = 1 << 30,
    LARGEST_BLOCK = 64 << 20,
    DEPTH = 20
};

/* operator new and delete of whatever C++ runtime or allocator there is. */
void *operator_new(size_t size) __asm__("_Znwm");
void operator_delete(void *block, size_t size) __asm__("_ZdlPvm");

static void *volatile sink;
static unsigned short sizes[SIZES];

static unsigned batches(void)
{
    return bench_quick() ? BATCHES / 4 : BATCHES;
}

/* Runs `batch` of `calls` calls many times; nanoseconds of one call. */
static double measure(void (*batch)(unsigned calls), unsigned calls, unsigned times)
{
    static double ns[BATCHES];
    batch(calls);
    for (unsigned i = 0; i < times; i++) {
        uint64_t start_ns = bench_now_ns();
        batch(calls);
        ns[i] = (double)(bench_now_ns() - start_ns) / calls;
    }
    return bench_middle_mean(ns, times);
}

/* ---- workloads ---- */

static void pairs(unsigned calls)
{
    for (unsigned i = 0; i < calls; i++) {
        sink = malloc(64);
        free(sink);
    }
}

static void cxx_pairs(unsigned calls)
{
    for (unsigned i = 0; i < calls; i++) {
        sink = operator_new(64);
        operator_delete(sink, 64);
    }
}

typedef struct ring {
    void **blocks;
    size_t length, at, size_at;
} ring;

static void turn(ring *r, unsigned calls)
{
    for (unsigned i = 0; i < calls; i++) {
        free(r->blocks[r->at]);
        char *block = malloc(sizes[r->size_at++ % SIZES]);
        *block = 1;
        r->blocks[r->at] = block;
        r->at = r->at + 1 < r->length ? r->at + 1 : 0;
    }
}

static ring first;

static void turn_first(unsigned calls)
{
    turn(&first, calls);
}

static void fill(ring *r, size_t length)
{
    *r = (ring){.blocks = calloc(length, sizeof *r->blocks), .length = length};
    if (r->blocks == NULL) {
        bench_fail("no memory for %zu blocks", length);
    }
    turn(r, (unsigned)length);
}

static void empty(ring *r)
{
    for (size_t i = 0; i < r->length; i++) {
        free(r->blocks[i]);
    }
    free(r->blocks);
}

static double rings(size_t length, unsigned times)
{
    fill(&first, length);
    double ns = measure(turn_first, 10000, times);
    empty(&first);
    return ns;
}

static bool stop_other;

static void *other_thread(void *unused)
{
    ring other;
    (void)unused;
    fill(&other, RING);
    while (!__atomic_load_n(&stop_other, __ATOMIC_RELAXED)) {
        turn(&other, 1000);
    }
    empty(&other);
    return NULL;
}

static double two_threads(void)
{
    pthread_t thread;
    stop_other = false;
    if (pthread_create(&thread, NULL, other_thread, NULL) != 0) {
        bench_fail("no second thread");
    }
    double ns = rings(RING, batches());
    __atomic_store_n(&stop_other, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    return ns;
}

static void huge_calloc(unsigned calls)
{
    for (unsigned i = 0; i < calls; i++) {
        sink = calloc(GIGABYTE / 16, 16);
        free(sink);
    }
}

static void growth(unsigned calls)
{
    for (unsigned i = 0; i < calls; i++) {
        void *block = NULL;
        for (size_t size = 4096; size <= LARGEST_BLOCK; size *= 2) {
            block = realloc(block, size);
            if (block == NULL) {
                bench_fail("no memory for %zu bytes", size);
            }
            memset(block, 1, 1);
        }
        free(block);
    }
}

__attribute__((noinline)) static int descend(unsigned depth, unsigned calls)
{
    if (depth > 0) {
        return descend(depth - 1, calls) + 1;
    }
    pairs(calls);
    return 0;
}

static void deep_pairs(unsigned calls)
{
    if (descend(DEPTH, calls) != DEPTH) {
        bench_fail("no way down");
    }
}

static double run(const char *name)
{
    if (strcmp(name, "pair") == 0) {
        return measure(pairs, 2000, batches());
    }
    if (strcmp(name, "ring") == 0) {
        return rings(RING, batches());
    }
    if (strcmp(name, "big_ring") == 0) {
        return rings(BIG_RING, batches());
    }
    if (strcmp(name, "two_threads") == 0) {
        return two_threads();
    }
    if (strcmp(name, "calloc") == 0) {
        return measure(huge_calloc, 1, batches() / 8);
    }
    if (strcmp(name, "realloc") == 0) {
        return measure(growth, 1, batches() / 8);
    }
    if (strcmp(name, "cxx") == 0) {
        return measure(cxx_pairs, 2000, batches());
    }
    if (strcmp(name, "sampled") == 0) {
        return measure(deep_pairs, 200, batches());
    }
    bench_fail("no workload '%s'", name);
}

int main(int argc, char **argv)
{
    uint64_t state = 1;
    for (size_t i = 0; i < SIZES; i++) {
        sizes[i] = (unsigned short)(LEAST + bench_random(&state) % SPAN);
    }
    for (int i = 1; i < argc; i++) {
        printf("%s %.3f\n", argv[i], run(argv[i]));
        fflush(stdout);
    }
    return 0;
}
