/* SPDX-License-Identifier: MIT
 *
 * test_live_table.c: the table of live blocks and its filter: against a naive twin, growing,
 * churning, and under threads that grow it together.
 *
 * The test program's own allocations may be sampled into the same table, so sampling is off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel.h"
#include "base/random.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/live_filter.h"
#include "kinds/heap/live_table.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES_A_BLOCK_MAX = 64 };

static const uintptr_t somewhere = UINT64_C(0x7f0000000000);

static size_t counts_in_filter(void)
{
    size_t sum = 0;
    for (size_t i = 0; i <= pp_live_filter->mask; i++) {
        sum += pp_live_filter->count[i];
    }
    return sum;
}

static int prepare(void **state)
{
    (void)state;
    pp_heap_set_rate(0);
    return 0;
}

static void what_went_in_comes_out_once(void **state)
{
    (void)state;
    uint64_t value = 0;
    size_t before = pp_live_table_count();
    assert_false(pp_live_table_remove(somewhere, &value));
    assert_true(pp_live_table_insert(somewhere, 42));
    assert_true(pp_live_filter_may_have(somewhere));
    assert_int_equal(pp_live_table_count(), before + 1);
    assert_false(pp_live_table_remove(somewhere + 16, &value));
    assert_true(pp_live_table_remove(somewhere, &value));
    assert_int_equal(value, 42);
    assert_false(pp_live_table_remove(somewhere, &value));
    assert_int_equal(pp_live_table_count(), before);
}

static void the_filter_begins_with_its_whole_size(void **state)
{
    (void)state;
    assert_true(pp_live_filter->mask + 1 >= PP_LIVE_FILTER_BYTES_MIN);
}

/* Random inserts and removals of few addresses, with the answers of an array. */
static void it_agrees_with_a_naive_twin(void **state)
{
    (void)state;
    enum { ADDRESSES = 3000, ROUNDS = 400000 };
    static uint64_t twin[ADDRESSES];
    uint64_t random = 1;
    size_t before = pp_live_table_count();
    size_t counted = counts_in_filter();
    for (int round = 0; round < ROUNDS; round++) {
        size_t i = pp_random_below(&random, ADDRESSES);
        uintptr_t address = somewhere + i * 16;
        uint64_t value = 0;
        if (twin[i] == 0) {
            twin[i] = pp_random_next(&random) | 1;
            assert_true(pp_live_table_insert(address, twin[i]));
        } else {
            assert_true(pp_live_filter_may_have(address));
            assert_true(pp_live_table_remove(address, &value));
            assert_int_equal(value, twin[i]);
            twin[i] = 0;
        }
    }
    for (size_t i = 0; i < ADDRESSES; i++) {
        uint64_t value = 0;
        assert_int_equal(pp_live_table_remove(somewhere + i * 16, &value), twin[i] != 0);
        assert_int_equal(value, twin[i]);
    }
    assert_int_equal(pp_live_table_count(), before);
    assert_int_equal(counts_in_filter(), counted);
}

/* However many come and go, one after the other: it does not grow, and nothing stays behind. */
static void churn_leaves_nothing_behind(void **state)
{
    (void)state;
    enum { LIVE = 500, ROUNDS = 3000000 };
    static uintptr_t live[LIVE];
    uint64_t random = 2;
    uint64_t value = 0;
    size_t bytes = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uintptr_t *slot = &live[(unsigned)round % LIVE];
        if (*slot != 0) {
            assert_true(pp_live_table_remove(*slot, &value));
        }
        *slot = somewhere + (pp_random_next(&random) & UINT64_C(0xffffffff0));
        if (!pp_live_table_insert(*slot, 1)) {
            fail();
        }
        if (round == ROUNDS / 3) {
            bytes = pp_live_table_bytes();
        }
    }
    assert_int_equal(pp_live_table_bytes(), bytes);
    assert_true(bytes <= PP_LIVE_FILTER_BYTES_MIN + LIVE * (size_t)BYTES_A_BLOCK_MAX * 2);
    for (size_t i = 0; i < LIVE; i++) {
        assert_true(pp_live_table_remove(live[i], &value));
    }
}

/* The kernel gets the whole pages of the counts, and nothing beside them. */
static void check_retired(const pp_live_filter_table *filter, int byte)
{
    const uintptr_t in_page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uintptr_t end = (uintptr_t)&filter->count[filter->mask + 1];
    for (size_t i = 0; i <= filter->mask; i++) {
        uintptr_t page = (uintptr_t)&filter->count[i] & ~in_page;
        bool is_whole = page >= (uintptr_t)filter->count && page + in_page < end;
        assert_int_equal(filter->count[i], is_whole ? 0 : byte);
    }
}

/* Grows as far as need be, is not wasteful at any size, and what is removed is in no filter. */
static void it_grows_with_what_is_alive(void **state)
{
    (void)state;
    enum { STUCK = 255 };                    /* a count that stays */
    enum { MANY = 1500000, SETTLED = 4000 }; /* the smallest filter serves so many */
    size_t counted = counts_in_filter();
    pp_live_filter_table *old = pp_live_filter;
    uint32_t generation = old->generation;
    for (size_t i = 0; i < MANY; i++) {
        assert_true(pp_live_table_insert(somewhere + i * 48, i));
        if (pp_live_filter->generation != generation) {
            generation = pp_live_filter->generation;
            if (generation == old->generation + 1) {
                memset(old->count, STUCK, old->mask + 1);
            } else if (generation == old->generation + 2) {
                check_retired(old, STUCK);
            }
        }
        if (i >= SETTLED && i % 1000 == 0) {
            assert_true(pp_live_table_bytes() <= i * BYTES_A_BLOCK_MAX);
        }
    }
    assert_int_equal(counts_in_filter(), counted + MANY);
    for (size_t i = 0; i < MANY; i++) {
        uint64_t value = 0;
        assert_true(pp_live_filter_may_have(somewhere + i * 48));
        assert_true(pp_live_table_remove(somewhere + i * 48, &value));
        assert_int_equal(value, i);
    }
    assert_int_equal(counts_in_filter(), counted);
}

/* ---- threads ---- */

enum { THREADS = 4, EACH = 150000, KEPT = 40000 };

typedef struct worker {
    pthread_t thread;
    uintptr_t base;
    unsigned wrong;
} worker;

/* Its own addresses, each alive for a while: the others make the filter grow under it. */
static void *work(void *context)
{
    worker *w = context;
    for (size_t i = 0; i < EACH + KEPT; i++) {
        uint64_t value = 0;
        if (i < EACH) {
            w->wrong += !pp_live_table_insert(w->base + i * 32, i);
            w->wrong += !pp_live_filter_may_have(w->base + i * 32);
        }
        if (i >= KEPT) {
            uintptr_t address = w->base + (i - KEPT) * 32;
            w->wrong += !pp_live_filter_may_have(address);
            w->wrong += !pp_live_table_remove(address, &value) || value != i - KEPT;
        }
    }
    return NULL;
}

static void threads_do_not_lose_each_others_entries(void **state)
{
    (void)state;
    worker workers[THREADS];
    size_t before = pp_live_table_count();
    size_t counted = counts_in_filter();
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.base = somewhere + (i << 32)};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    assert_int_equal(pp_live_table_count(), before);
    assert_int_equal(counts_in_filter(), counted);
}

/* In a process that may not have more memory an insertion fails, and nothing else. */
static void without_memory_it_says_so(void **state)
{
    (void)state;
    need_kernel();
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* their run-time needs memory, too */
#endif
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        uint64_t value = 0;
        size_t i = 0;
        setrlimit(RLIMIT_AS, &none);
        while (i < 100000000 && pp_live_table_insert(somewhere + i * 16, i)) {
            i++;
        }
        bool right = i > 0 && i < 100000000;
        for (size_t k = 0; k < i; k++) {
            right = right && pp_live_table_remove(somewhere + k * 16, &value) && value == k;
        }
        _exit(right ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    /* Those that look at the size come first: the table never shrinks. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_filter_begins_with_its_whole_size),
        cmocka_unit_test(what_went_in_comes_out_once),
        cmocka_unit_test(churn_leaves_nothing_behind),
        cmocka_unit_test(it_agrees_with_a_naive_twin),
        cmocka_unit_test(it_grows_with_what_is_alive),
        cmocka_unit_test(threads_do_not_lose_each_others_entries),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
