/* SPDX-License-Identifier: MIT
 *
 * test_memory_stats.c: the kernel's and the allocator's numbers against what the test does, sums of
 * rows, classes of sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/heap/memory_stats.h"
#include "sys/allocator.h"
#include "sys/memory_use.h"

#include <stdlib.h>

enum { MIB = 1 << 20 };

static void classes_hold_their_sizes(void **state)
{
    (void)state;
    pp_memory_stats stats;
    pp_memory_stats_read(&stats);
    uint64_t before = 0;
    for (unsigned i = 0; i < PP_SIZE_CLASSES; i++) {
        uint64_t size = stats.by_size[i].size;
        assert_true(size > before);
        /* Never more than a quarter above the class before it, beyond the first ones. */
        assert_true(size <= 128 ? size - before == 16 : size - before <= before / 4 + 1);
        assert_int_equal(pp_size_class_of(size), i);
        assert_int_equal(pp_size_class_of(before + 1), i);
        before = size;
    }
    assert_int_equal(before, 32768);
    assert_int_equal(pp_size_class_of(0), 0);
    assert_int_equal(pp_size_class_of(32769), PP_SIZE_CLASSES);
    assert_int_equal(pp_size_class_of(UINT64_MAX), PP_SIZE_CLASSES);
}

static void libc_knows_what_it_gave_out(void **state)
{
    (void)state;
    pp_allocator_use before;
    pp_allocator_use after;
    if (!pp_allocator_read(&before))
        skip();                              /* a sanitizer's allocator */
    void *volatile small = malloc(50000);    /* from the heap */
    void *volatile large = malloc(10 * MIB); /* a mapping of its own */
    assert_true(pp_allocator_read(&after));
    assert_in_range(after.used - before.used, 10 * MIB + 50000, 11 * MIB);
    assert_true(after.mapped >= after.used);
    free(large);
    free(small);
    assert_true(pp_allocator_read(&after));
    assert_in_range(after.used, 0, before.used + 50000);
}

static void the_kernel_knows_the_peak(void **state)
{
    (void)state;
    uint64_t before = pp_memory_peak_rss_bytes();
    assert_true(before >= MIB && before < (uint64_t)1 << 40);
    uint64_t size = before + 16 * MIB;
    char *volatile memory = malloc(size);
    assert_non_null(memory);
    memset(memory, 1, size);
    free(memory);
    assert_true(pp_memory_peak_rss_bytes() >= size);
    assert_in_range(pp_memory_stack_bytes(), 8 * 1024, (uint64_t)1 << 32);
}

static pp_heap_row row(uint64_t size, int64_t allocated, int64_t in_use)
{
    return (pp_heap_row){
        .size = size,
        .rate = 1,
        .alloc_objects = (uint64_t)allocated,
        .alloc_bytes = size * (uint64_t)allocated,
        .value = {allocated, allocated * (int64_t)size, in_use, in_use * (int64_t)size}};
}

static void rows_are_summed(void **state)
{
    (void)state;
    pp_heap_row list[] = {row(16, 10, 4), row(1, 5, 5), row(100, 7, 0), row(MIB, 3, 1)};
    pp_heap_rows rows = {.list = list, .count = 4, .rate = 1};
    pp_memory_stats stats = {.is_libc = true, .heap_alloc = 1, .heap_sys = 2};
    pp_memory_stats_estimate(&rows, &stats);
    assert_int_equal(stats.mallocs, 25);
    assert_int_equal(stats.frees, 15);
    assert_int_equal(stats.total_alloc, 160 + 5 + 700 + 3 * MIB);
    assert_int_equal(stats.by_size[0].mallocs, 15);
    assert_int_equal(stats.by_size[0].frees, 6);
    assert_int_equal(stats.by_size[6].mallocs, 7); /* 112 */
    assert_int_equal(stats.by_size[6].frees, 7);
    assert_int_equal(stats.heap_alloc, 1); /* libc's own number stands */

    stats = (pp_memory_stats){.is_libc = false};
    pp_memory_stats_estimate(&rows, &stats);
    assert_int_equal(stats.heap_alloc, 4 * 16 + 5 + MIB);
    assert_int_equal(stats.heap_sys, stats.heap_alloc);
}

/* Rows that were scaled already are not scaled again. */
static void samples_stand_for_more(void **state)
{
    (void)state;
    pp_heap_row list[] = {row(100, 10, 5)};
    list[0].rate = 1000; /* one in 10.5 */
    pp_heap_rows rows = {.list = list, .count = 1, .rate = 1000};
    pp_memory_stats stats = {.is_libc = true};
    pp_memory_stats_estimate(&rows, &stats);
    assert_int_equal(stats.mallocs, 105);
    assert_in_range(stats.frees, 52, 53);
    rows.scaled = true;
    stats = (pp_memory_stats){.is_libc = true};
    pp_memory_stats_estimate(&rows, &stats);
    assert_int_equal(stats.mallocs, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_hold_their_sizes),  cmocka_unit_test(libc_knows_what_it_gave_out),
        cmocka_unit_test(the_kernel_knows_the_peak), cmocka_unit_test(rows_are_summed),
        cmocka_unit_test(samples_stand_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
