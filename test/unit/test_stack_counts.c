/* SPDX-License-Identifier: MIT
 *
 * test_stack_counts.c: the table of stacks against a naive twin, full, and under four threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel.h"
#include "mmap_fault.h"
#include "base/random.h"
#include "base/stack_hash.h"
#include "store/stack_counts.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

static pp_stack_entry *record(pp_stack_counts *counts, const uintptr_t *pcs, uint32_t depth,
                              uint64_t weight)
{
    return pp_stack_counts_record(counts, pcs, depth, pp_stack_hash(pcs, depth), weight);
}

enum {
    BYTES = 4 << 20,
    STACKS = 500, /* distinct ones */
    MAX_DEPTH = 40,
    ROUNDS = 20000,
    THREADS = 4
};

/* Stack number n, always the same; some differ in their last frame or their depth alone. */
static uint32_t make_stack(uint32_t n, uintptr_t pcs[MAX_DEPTH])
{
    uint64_t seed = n / 4;
    uint32_t depth = (uint32_t)pp_random_below(&seed, MAX_DEPTH - 4) + n % 2;
    for (uint32_t i = 0; i < depth; i++)
        pcs[i] = pp_random_next(&seed);
    if (depth > 0 && n % 4 >= 2)
        pcs[depth - 1]++;
    return depth;
}

static uint64_t expected[STACKS];
static uint32_t met[STACKS];

static void find_in_twin(const pp_stack_entry *entry, void *context)
{
    (void)context;
    uintptr_t pcs[MAX_DEPTH];
    for (uint32_t n = 0; n < STACKS; n++) {
        uint32_t depth = make_stack(n, pcs);
        if (entry->depth == depth && memcmp(entry->pc, pcs, depth * sizeof *pcs) == 0) {
            met[n]++;
            assert_int_equal(entry->count, expected[n]);
            return;
        }
    }
    fail_msg("a stack that nobody recorded");
}

/* Stacks without frames are all one. */
static void merge_equal_stacks(void)
{
    uintptr_t a[MAX_DEPTH], b[MAX_DEPTH];
    for (uint32_t n = 0; n < STACKS; n++) {
        uint32_t depth = make_stack(n, a);
        for (uint32_t m = n + 1; m < STACKS; m++) {
            if (make_stack(m, b) == depth && memcmp(a, b, depth * sizeof *a) == 0) {
                expected[n] += expected[m];
                expected[m] = 0;
            }
        }
    }
}

static void assert_same_as_twin(const pp_stack_counts *counts)
{
    merge_equal_stacks();
    memset(met, 0, sizeof met);
    pp_stack_counts_each(counts, find_in_twin, NULL);
    for (uint32_t n = 0; n < STACKS; n++)
        assert_int_equal(met[n], expected[n] != 0);
}

static void counts_are_those_of_a_naive_twin(void **state)
{
    (void)state;
    uint64_t seed = 3;
    uintptr_t pcs[MAX_DEPTH];
    pp_stack_counts *counts = pp_stack_counts_new(BYTES);
    assert_non_null(counts);
    assert_true(pp_stack_counts_is_empty(counts));
    memset(expected, 0, sizeof expected);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t n = (uint32_t)pp_random_below(&seed, STACKS);
        uint64_t weight = 1 + pp_random_below(&seed, 1000);
        uint32_t depth = make_stack(n, pcs);
        pp_stack_entry *entry = record(counts, pcs, depth, weight);
        assert_non_null(entry);
        assert_int_equal(entry->depth, depth);
        assert_memory_equal(entry->pc, pcs, depth * sizeof *pcs);
        expected[n] += weight;
    }
    assert_same_as_twin(counts);
    pp_stack_counts_free(counts);
}

static void count_entry(const pp_stack_entry *entry, void *context)
{
    (void)entry;
    (*(size_t *)context)++;
}

static void a_new_table_is_empty(void **state)
{
    (void)state;
    size_t entries = 0;
    pp_stack_counts *counts = pp_stack_counts_new(BYTES);
    pp_stack_counts_each(counts, count_entry, &entries);
    assert_int_equal(entries, 0);
    pp_stack_counts_free(counts);
    pp_stack_counts_free(NULL);
}

static void the_empty_stack_is_a_stack(void **state)
{
    (void)state;
    pp_stack_counts *counts = pp_stack_counts_new(BYTES);
    const uintptr_t unused = 0;
    pp_stack_entry *first = record(counts, &unused, 0, 3);
    pp_stack_entry *second = record(counts, &unused, 0, 4);
    assert_non_null(first);
    assert_ptr_equal(first, second);
    assert_int_equal(first->count, 7);
    pp_stack_counts_free(counts);
}

static void sum_counts(const pp_stack_entry *entry, void *context)
{
    *(uint64_t *)context += entry->count;
}

static void a_full_table_keeps_what_it_has(void **state)
{
    (void)state;
    uintptr_t pcs[MAX_DEPTH] = {0};
    uint64_t recorded = 0;
    uint64_t refused = 0;
    pp_stack_counts *counts = pp_stack_counts_new(1 << 20);
    assert_non_null(counts);
    for (uintptr_t i = 1; i <= 10000; i++) {
        pcs[0] = i;
        if (record(counts, pcs, MAX_DEPTH, 1) != NULL)
            recorded++;
        else
            refused++;
    }
    assert_in_range(recorded, 2000, 4000); /* of 352 bytes each */
    assert_int_not_equal(refused, 0);
    /* A smaller stack may still fit; one that is known is counted. */
    pcs[0] = 1;
    for (int i = 0; i < 1000; i++)
        assert_non_null(record(counts, pcs, MAX_DEPTH, 5));
    uint64_t sum = 0;
    pp_stack_counts_each(counts, sum_counts, &sum);
    assert_int_equal(sum, recorded + 5000);
    pp_stack_counts_free(counts);
}

/* ---- memory that is refused ---- */

static void a_smaller_table_is_better_than_none(void **state)
{
    (void)state;
    need_kernel();
    needs_mmap_fault();
    mappings_left = 0;
    pp_stack_counts *none = pp_stack_counts_new(BYTES);
    mappings_left = LONG_MAX;
    assert_null(none);
    assert_null(pp_stack_counts_new(1000));
    /* More than there are addresses: halved until it fits. */
    pp_stack_counts *counts = pp_stack_counts_new((size_t)1 << 50);
    assert_non_null(counts);
    uintptr_t pc = 1;
    assert_non_null(record(counts, &pc, 1, 1));
    pp_stack_counts_free(counts);
}

static void nothing_stays_mapped(void **state)
{
    (void)state;
    needs_mmap_fault();
    long before = mappings_live;
    pp_stack_counts_free(pp_stack_counts_new(BYTES));
    assert_int_equal(mappings_live, before);
}

/* ---- threads ---- */

static pp_stack_counts *shared;
static pthread_barrier_t barrier;
static uint64_t lost;

/* All threads record the same stacks in the same order, so that they meet at the
 * insertion of each. */
static void *hammer(void *context)
{
    uint64_t weight = (uintptr_t)context;
    uintptr_t pcs[MAX_DEPTH];
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < 20; round++) {
        for (uint32_t n = 0; n < STACKS; n++) {
            uint32_t depth = make_stack(n, pcs);
            if (record(shared, pcs, depth, weight) == NULL)
                __atomic_add_fetch(&lost, weight, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    lost = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        shared = pp_stack_counts_new(BYTES);
        run_threads();
        for (uint32_t n = 0; n < STACKS; n++)
            expected[n] = 20 * (1 + 2 + 3 + 4);
        assert_same_as_twin(shared);
        assert_int_equal(lost, 0);
        pp_stack_counts_free(shared);
    }
}

/* One-frame stacks whose hashes have their low bits in common: they hang on one chain. */
enum { COLLIDING = 24, LOW_BITS = 0x3fff };

static uintptr_t colliding[COLLIDING];

static void find_colliding_stacks(void)
{
    pp_stack_counts *counts = pp_stack_counts_new(64 << 20);
    size_t found = 0;
    for (uintptr_t pc = 1; found < COLLIDING; pc++) {
        const pp_stack_entry *entry = record(counts, &pc, 1, 1);
        assert_non_null(entry);
        if ((entry->hash & LOW_BITS) == 0)
            colliding[found++] = pc;
    }
    pp_stack_counts_free(counts);
}

/* Each thread inserts stacks of its own; all want the same head. */
static void *insert_colliding(void *context)
{
    pthread_barrier_wait(&barrier);
    for (size_t i = (uintptr_t)context; i < COLLIDING; i += THREADS) {
        if (record(shared, &colliding[i], 1, 1) == NULL)
            __atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void threads_on_one_chain_lose_nothing(void **state)
{
    (void)state;
    find_colliding_stacks();
    for (int round = 0; round < 100; round++) {
        pthread_t threads[THREADS];
        size_t entries = 0;
        shared = pp_stack_counts_new(1 << 20);
        pthread_barrier_init(&barrier, NULL, THREADS);
        lost = 0;
        for (uintptr_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, insert_colliding, (void *)i), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&barrier);
        pp_stack_counts_each(shared, count_entry, &entries);
        assert_int_equal(lost, 0);
        assert_int_equal(entries, COLLIDING);
        pp_stack_counts_free(shared);
    }
}

/* Stacks that nobody else has, until there is no room. */
static void *fill(void *context)
{
    uintptr_t pcs[100] = {(uintptr_t)context};
    pthread_barrier_wait(&barrier);
    for (uintptr_t i = 0; i < 2000; i++) {
        pcs[1] = i;
        if (record(shared, pcs, 100, 1) == NULL)
            __atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void threads_count_what_a_full_table_refuses(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t sum = 0;
    shared = pp_stack_counts_new(1 << 20);
    pthread_barrier_init(&barrier, NULL, THREADS);
    lost = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fill, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    pp_stack_counts_each(shared, sum_counts, &sum);
    assert_int_not_equal(lost, 0);
    assert_int_equal(sum + lost, THREADS * 2000);
    pp_stack_counts_free(shared);
}

/* ---- growing ---- */

enum {
    LARGE = 16 << 20, /* in five pieces */
    FRAMES = 25,
    OVERHEAD = 4 * 8, /* of an entry */
    EXPECTED = (LARGE - (1 << 20)) / (FRAMES * 8 + OVERHEAD)
};

/* Of stack number n; no two are equal. */
static void fill_stack(uintptr_t pcs[FRAMES], uintptr_t n)
{
    for (uintptr_t i = 0; i < FRAMES; i++)
        pcs[i] = (n + 1) * 4096 + i;
}

static size_t grow(pp_stack_counts *counts)
{
    uintptr_t pcs[FRAMES];
    size_t n = 0;
    for (fill_stack(pcs, n); record(counts, pcs, FRAMES, 1) != NULL; n++)
        fill_stack(pcs, n + 1);
    return n;
}

static void check_stack(const pp_stack_entry *entry, void *context)
{
    size_t *entries = context;
    assert_int_equal(entry->depth, FRAMES);
    assert_int_equal(entry->pc[FRAMES - 1], entry->pc[0] + FRAMES - 1);
    assert_in_range(entry->count, 1, THREADS);
    ++*entries;
}

static void a_table_grows_to_its_limit(void **state)
{
    (void)state;
    uintptr_t pcs[FRAMES];
    size_t entries = 0;
    pp_stack_counts *counts = pp_stack_counts_new_growing(LARGE + 4711);
    assert_non_null(counts);
    size_t n = grow(counts);
    assert_in_range(n, EXPECTED, LARGE / (FRAMES * 8 + OVERHEAD));
    pp_stack_counts_each(counts, check_stack, &entries);
    assert_int_equal(entries, n);
    for (uintptr_t i = 0; i < n; i++) {
        fill_stack(pcs, i);
        assert_int_equal(record(counts, pcs, FRAMES, 1)->count, 2);
    }
    pp_stack_counts_free(counts);
}

static size_t recorded_by_all;

static void *grow_beside_others(void *counts)
{
    pthread_barrier_wait(&barrier);
    __atomic_add_fetch(&recorded_by_all, grow(counts), __ATOMIC_RELAXED);
    return NULL;
}

/* All of them record the same stacks, so that each new piece is wanted by all at once. */
static void threads_grow_one_table(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    size_t entries = 0;
    uint64_t sum = 0;
    pp_stack_counts *counts = pp_stack_counts_new_growing(LARGE);
    assert_non_null(counts);
    pthread_barrier_init(&barrier, NULL, THREADS);
    recorded_by_all = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, grow_beside_others, counts), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    pp_stack_counts_each(counts, check_stack, &entries);
    pp_stack_counts_each(counts, sum_counts, &sum);
    assert_int_equal(sum, recorded_by_all);
    assert_true(entries >= EXPECTED / 2); /* those who lose a race leave their entries behind */
    pp_stack_counts_free(counts);
}

/* What there is stays, and is counted further, when the kernel has no more. */
static void a_table_that_cannot_grow_keeps_what_it_has(void **state)
{
    (void)state;
    need_kernel();
    uintptr_t pcs[FRAMES];
    struct rlimit before;
    pp_stack_counts *counts = pp_stack_counts_new_growing(LARGE);
    assert_non_null(counts);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){0, before.rlim_max}), 0);
    size_t n = grow(counts);
    fill_stack(pcs, n - 1);
    pp_stack_entry *last = record(counts, pcs, FRAMES, 1);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_non_null(last);
    assert_int_equal(last->count, 2);
    assert_in_range(n, 1, (1 << 20) / (FRAMES * 8 + OVERHEAD));
    fill_stack(pcs, n);
    assert_non_null(record(counts, pcs, FRAMES, 1)); /* there is memory again */
    pp_stack_counts_free(counts);
}

static void the_least_is_a_mebibyte(void **state)
{
    (void)state;
    pp_stack_counts *counts = pp_stack_counts_new_growing(1);
    assert_non_null(counts);
    assert_in_range(grow(counts), 1000, (1 << 20) / (FRAMES * 8 + OVERHEAD));
    pp_stack_counts_free(counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_a_naive_twin),
        cmocka_unit_test(a_new_table_is_empty),
        cmocka_unit_test(the_empty_stack_is_a_stack),
        cmocka_unit_test(a_full_table_keeps_what_it_has),
        cmocka_unit_test(a_smaller_table_is_better_than_none),
        cmocka_unit_test(nothing_stays_mapped),
        cmocka_unit_test(threads_lose_nothing),
        cmocka_unit_test(threads_on_one_chain_lose_nothing),
        cmocka_unit_test(threads_count_what_a_full_table_refuses),
        cmocka_unit_test(a_table_grows_to_its_limit),
        cmocka_unit_test(threads_grow_one_table),
        cmocka_unit_test(a_table_that_cannot_grow_keeps_what_it_has),
        cmocka_unit_test(the_least_is_a_mebibyte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
