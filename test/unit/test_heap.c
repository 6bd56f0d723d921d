/* SPDX-License-Identifier: MIT
 *
 * test_heap.c: the sampler: estimates are unbiased and spread as theory says, for every size, and
 * also when the rate changes; what is freed is gone.
 *
 * Allocations are made up: pp_heap_due() is asked as the entries of malloc would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/exponential.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/live_filter.h"
#include "kinds/heap/live_table.h"

#include <math.h>
#include <stdlib.h>

static const uintptr_t somewhere = UINT64_C(0x7f0000000000);

static uint64_t allocate(uint64_t size)
{
    if (size < pp_heap_countdown) {
        pp_heap_countdown -= size;
        return 0;
    }
    return pp_heap_due(size);
}

static int go_off(void **state)
{
    (void)state;
    pp_heap_set_rate(0);
    return 0;
}

/* ---- estimates ---- */

enum { RUNS = 30 };

typedef struct estimate {
    double mean, error; /* of the runs' estimates over the truth; its standard error */
    double expected_error;
} estimate;

/* Runs of `blocks` allocations of `size` bytes, in which other sizes are mixed. */
static estimate estimate_blocks(uint64_t size, uint64_t blocks, uint64_t rate)
{
    double sum = 0;
    double squares = 0;
    double share = 1 / pp_blocks_per_sample((double)size, rate);
    for (uint64_t run = 0; run < RUNS; run++) {
        double found = 0;
        pp_heap_set_rate((int64_t)rate);
        pp_heap_seed(run * 7919 + size);
        for (uint64_t i = 0; i < blocks; i++) {
            uint64_t sampled = allocate(size);
            if (sampled != 0) {
                found += pp_blocks_per_sample((double)size, sampled);
            }
            allocate(i % 5 * 1000);
        }
        sum += found / (double)blocks;
        squares += found / (double)blocks * found / (double)blocks;
    }
    estimate e = {.mean = sum / RUNS};
    e.error = sqrt((squares / RUNS - e.mean * e.mean) / (RUNS - 1));
    /* Each block is found with probability `share`, and counts for 1 / share then. */
    e.expected_error = sqrt((1 - share) / share / (double)blocks / RUNS);
    return e;
}

static void estimates_are_unbiased_at_every_size(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {16, 100, 1000, 4096, 65536, 524288, 4194304};
    enum { RATE = 65536 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t blocks = (UINT64_C(200) * RATE) / sizes[i] + 2000;
        estimate e = estimate_blocks(sizes[i], blocks, RATE);
        assert_true(fabs(e.mean - 1) <= 3 * e.expected_error + 1e-12);
        /* The spread of 30 runs is known to 13 %: three times that. */
        assert_true(e.error <= 1.4 * e.expected_error + 1e-12);
        assert_true(e.error >= 0.6 * e.expected_error - 1e-12);
    }
}

/* Each sample knows the rate at which it was taken. */
static void a_change_of_rate_leaves_no_bias(void **state)
{
    (void)state;
    enum { SIZE = 3000, BLOCKS = 200000 };
    double sum = 0;
    double variance = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        double found = 0;
        pp_heap_set_rate(1000000);
        pp_heap_seed(run * 104729 + 1);
        for (uint64_t i = 0; i < BLOCKS; i++) {
            if (i % 20000 == 0) {
                pp_heap_set_rate(i % 40000 == 0 ? 1000000 : 20000);
            }
            uint64_t rate = allocate(SIZE);
            if (rate != 0) {
                double each = pp_blocks_per_sample(SIZE, rate);
                found += each;
                variance += each * (each - 1);
            }
        }
        sum += found / BLOCKS;
    }
    double error = sqrt(variance) / BLOCKS / RUNS;
    assert_true(fabs(sum / RUNS - 1) <= 3 * error);
}

static void rate_one_takes_every_block(void **state)
{
    (void)state;
    pp_heap_set_rate(0);
    assert_int_equal(pp_heap_set_rate(1), 0);
    for (uint64_t size = 0; size < 100000; size += 7) {
        assert_int_equal(allocate(size), 1);
    }
    assert_int_equal(pp_heap_set_rate(0), 1);
}

static void rate_zero_takes_none(void **state)
{
    (void)state;
    pp_heap_set_rate(0);
    for (uint64_t size = 0; size < 100000000; size = size * 2 + 1) {
        assert_int_equal(allocate(size), 0);
        assert_true(pp_heap_countdown > 0);
    }
}

static void empty_blocks_are_sampled_at_rate_one_alone(void **state)
{
    (void)state;
    pp_heap_set_rate(2);
    pp_heap_seed(1);
    for (int i = 0; i < 100000; i++) {
        assert_int_equal(allocate(0), 0);
    }
}

/* A thread looks whether the rate has changed before it has allocated so much. */
static void the_countdown_is_never_long(void **state)
{
    (void)state;
    pp_heap_set_rate(INT64_MAX);
    for (int i = 0; i < 1000; i++) {
        allocate(100000);
        assert_true(pp_heap_countdown <= PP_HEAP_LOOK_BYTES);
    }
}

/* ---- live blocks ---- */

static void record(uintptr_t address, uint64_t size)
{
    uintptr_t stack[4] = {0};
    pp_caller caller = {
        .leaf = (uintptr_t)record, .return_address = (uintptr_t)record + 1, .sp = (uintptr_t)stack};
    pp_heap_record(address, size, 1, &caller);
}

static uint64_t live_bytes(void)
{
    uint64_t sum = 0;
    for (const pp_heap_bucket *b = pp_heap_buckets_newest(); b != NULL; b = b->next) {
        pp_heap_counts counts;
        pp_heap_bucket_counts(b, &counts);
        sum += counts.alloc_bytes - counts.free_bytes;
    }
    return sum;
}

static void a_freed_block_is_in_use_no_more(void **state)
{
    (void)state;
    uint64_t before = live_bytes();
    record(somewhere, 1000);
    assert_int_equal(live_bytes(), before + 1000);
    uint64_t found = pp_heap_detach(somewhere);
    assert_int_not_equal(found, 0);
    pp_heap_freed(found);
    assert_int_equal(live_bytes(), before);
    assert_int_equal(pp_heap_detach(somewhere), 0);
}

static void a_failed_realloc_keeps_its_block(void **state)
{
    (void)state;
    uint64_t before = live_bytes();
    record(somewhere, 1000);
    pp_heap_reattach(somewhere, pp_heap_detach(somewhere), 0);
    assert_int_equal(live_bytes(), before + 1000);
    pp_heap_freed(pp_heap_detach(somewhere));
    assert_int_equal(live_bytes(), before);
}

/* A free that went past the hooks leaves a record; the next block at the address replaces it. */
static void reuse_of_an_address_heals_a_missed_free(void **state)
{
    (void)state;
    uint64_t before = live_bytes();
    record(somewhere, 1000);
    record(somewhere, 300);
    assert_int_equal(live_bytes(), before + 300);
    pp_heap_freed(pp_heap_detach(somewhere));
    assert_int_equal(live_bytes(), before);
    assert_int_equal(pp_heap_detach(somewhere), 0);
}

static void what_is_remembered_is_no_sample(void **state)
{
    (void)state;
    uint64_t before = live_bytes();
    assert_true(pp_heap_remember(somewhere));
    uint64_t found = pp_heap_detach(somewhere);
    assert_true(found == PP_HEAP_FOREIGN);
    pp_heap_freed(found);
    assert_int_equal(live_bytes(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_unbiased_at_every_size),
        cmocka_unit_test(a_change_of_rate_leaves_no_bias),
        cmocka_unit_test(rate_one_takes_every_block),
        cmocka_unit_test(rate_zero_takes_none),
        cmocka_unit_test(empty_blocks_are_sampled_at_rate_one_alone),
        cmocka_unit_test(the_countdown_is_never_long),
        cmocka_unit_test_setup(a_freed_block_is_in_use_no_more, go_off),
        cmocka_unit_test_setup(a_failed_realloc_keeps_its_block, go_off),
        cmocka_unit_test_setup(reuse_of_an_address_heals_a_missed_free, go_off),
        cmocka_unit_test_setup(what_is_remembered_is_no_sample, go_off),
    };
    return cmocka_run_group_tests(tests, go_off, NULL);
}
