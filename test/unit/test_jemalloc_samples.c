/* SPDX-License-Identifier: MIT
 *
 * test_jemalloc_samples.c: what the hooks of a jemalloc report becomes, in every order in which
 * jemalloc calls them. The jemalloc is a stand-in: it has the variables and no memory.
 *
 * Buckets stay for ever, so each test has a block size of its own, by which it knows its records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pprof.h"
#include "kinds/heap/jemalloc_samples.h"

#include <errno.h>

typedef void sample_hook(const void *block, size_t size, void **stack, unsigned depth,
                         size_t size_class);
typedef void free_hook(const void *block, size_t size_class);

static sample_hook *sample;
static free_hook *freed;
static size_t shift;
static bool refuses;

static int stand_in(const char *name, void *old, size_t *old_size, void *changed, size_t size)
{
    void *where = strcmp(name, "experimental.hooks.prof_sample") == 0        ? (void *)&sample
                  : strcmp(name, "experimental.hooks.prof_sample_free") == 0 ? (void *)&freed
                  : strcmp(name, "prof.lg_sample") == 0                      ? (void *)&shift
                                                                             : NULL;
    if (where == NULL || (refuses && changed != NULL && where == (void *)&sample)) {
        return ENOENT;
    }
    if (old != NULL) {
        assert_int_equal(*old_size, sizeof(void *));
        memcpy(old, where, *old_size);
    }
    if (changed != NULL) {
        assert_int_equal(size, sizeof(void *));
        memcpy(where, changed, size);
    }
    return 0;
}

static const pp_jemalloc jemalloc = {.ask = stand_in};

/* Addresses of blocks that do not exist: they are compared, never looked into. */
static void *block(uintptr_t number)
{
    return (void *)(0x20000000 + number * 4096);
}

static void report_sample(uintptr_t number, size_t size)
{
    sample(block(number), size - 1, NULL, 0, size);
}

static void report_end(uintptr_t number, size_t size)
{
    freed(block(number), size);
}

/* Of the records of blocks of that size, "allocated in use". */
static void assert_counts(size_t size, int64_t allocated, int64_t in_use)
{
    static pprof_mem_record records[512];
    size_t n = 0;
    int64_t found_allocated = 0, found_in_use = 0;
    assert_true(pprof_mem_profile(records, sizeof records / sizeof *records, &n, true));
    for (size_t i = 0; i < n; i++) {
        if (records[i].alloc_bytes == records[i].alloc_objects * (int64_t)size) {
            found_allocated += records[i].alloc_objects;
            found_in_use += pprof_mem_record_inuse_objects(&records[i]);
        }
    }
    assert_int_equal(found_allocated, allocated);
    assert_int_equal(found_in_use, in_use);
}

static int prepare(void **state)
{
    (void)state;
    sample = NULL;
    freed = NULL;
    refuses = false;
    shift = 12;
    pprof_set_mem_profile_rate(1 << 20); /* is not the rate of its samples */
    return pp_jemalloc_begin(&jemalloc, true);
}

static int clean(void **state)
{
    (void)state;
    pp_jemalloc_end();
    pprof_set_mem_profile_rate(0);
    return 0;
}

static void a_block_lives_until_its_end(void **state)
{
    (void)state;
    report_sample(1, 4352);
    report_sample(2, 4352);
    assert_counts(4352, 2, 2);
    report_end(1, 4352);
    assert_counts(4352, 2, 1);
    report_end(2, 4352);
    assert_counts(4352, 2, 0);
}

/* realloc, sampled anew in the same place: the new sample comes first. */
static void a_block_resized_in_place_lives_on(void **state)
{
    (void)state;
    report_sample(3, 4608);
    report_sample(3, 4864);
    report_end(3, 4608);
    assert_counts(4608, 1, 0);
    assert_counts(4864, 1, 1);
    report_end(3, 4864);
    assert_counts(4864, 1, 0);
}

static void a_block_resized_in_place_twice_lives_on(void **state)
{
    (void)state;
    report_sample(3, 4352 + 16);
    for (int i = 0; i < 100; i++) {
        report_sample(3, 4352 + 16);
        report_end(3, 4352 + 16);
        assert_counts(4352 + 16, i + 2, 1);
    }
    report_end(3, 4352 + 16);
    assert_counts(4352 + 16, 101, 0);
}

/* realloc moves a block, and its end is reported when another thread has its address already. */
static void a_late_end_is_that_of_the_first_block(void **state)
{
    (void)state;
    report_sample(4, 5120);
    report_sample(5, 5120); /* where it moves to */
    report_sample(4, 5376); /* the other thread's */
    report_end(4, 5376);    /* and this is quicker, too */
    report_end(4, 5120);
    assert_counts(5120, 2, 1);
    assert_counts(5376, 1, 0);
    report_end(5, 5120);
    assert_counts(5120, 2, 0);
}

static void a_resized_block_that_is_no_sample_any_more_is_gone(void **state)
{
    (void)state;
    report_sample(6, 5632);
    report_end(6, 5632);
    assert_counts(5632, 1, 0);
}

static void an_end_of_a_block_from_before_is_nothing(void **state)
{
    (void)state;
    report_end(7, 5888);
    assert_counts(5888, 0, 0);
}

static void a_stopped_profile_still_sees_ends(void **state)
{
    (void)state;
    report_sample(8, 6144);
    pprof_set_mem_profile_rate(0);
    report_sample(9, 6144);
    report_end(8, 6144);
    report_end(9, 6144);
    assert_counts(6144, 1, 0);
}

static unsigned called;

static void its_own_sample_hook(const void *at, size_t size, void **stack, unsigned depth,
                                size_t size_class)
{
    assert_ptr_equal(at, block(10));
    assert_int_equal(size, 6399);
    assert_null(stack);
    assert_int_equal(depth, 0);
    assert_int_equal(size_class, 6400);
    called++;
}

static void its_own_free_hook(const void *at, size_t size_class)
{
    assert_ptr_equal(at, block(10));
    assert_int_equal(size_class, 6400);
    called++;
}

static void hooks_of_the_program_are_called_and_come_back(void **state)
{
    (void)state;
    pp_jemalloc_end();
    assert_null(sample);
    assert_null(freed);
    sample = its_own_sample_hook;
    freed = its_own_free_hook;
    assert_int_equal(pp_jemalloc_begin(&jemalloc, true), 0);
    errno = 7;
    report_sample(10, 6400);
    report_end(10, 6400);
    assert_int_equal(errno, 7);
    assert_int_equal(called, 2);
    assert_counts(6400, 1, 0);
    pp_jemalloc_end();
    assert_ptr_equal(sample, its_own_sample_hook);
    assert_ptr_equal(freed, its_own_free_hook);
}

static void what_refuses_a_hook_keeps_none(void **state)
{
    (void)state;
    pp_jemalloc_end();
    refuses = true;
    assert_int_equal(pp_jemalloc_begin(&jemalloc, true), ENOENT);
    assert_null(sample);
    assert_null(freed);
    assert_false(pp_jemalloc_is_on());
}

/* The function that the last frame of jemalloc belongs to is the leaf, under the name that the
 * program has called. */
__attribute__((noinline)) static void reports_from_inside(size_t size)
{
    report_sample(11, size);
    __asm__ volatile("");
}

static void stacks_begin_with_the_function_that_was_called(void **state)
{
    static pp_jemalloc with_functions;
    static pprof_mem_record records[512];
    size_t n = 0;
    (void)state;
    pp_jemalloc_end();
    uintptr_t inside = (uintptr_t)reports_from_inside;
    with_functions = (pp_jemalloc){.ask = stand_in, .count = 1};
    with_functions.function[0] = (pp_jemalloc_function){inside, inside + 64, (uintptr_t)stand_in};
    assert_int_equal(pp_jemalloc_begin(&with_functions, true), 0);
    reports_from_inside(6656);
    reports_from_inside(6912);
    assert_true(pprof_mem_profile(records, sizeof records / sizeof *records, &n, true));
    unsigned seen = 0;
    for (size_t i = 0; i < n; i++) {
        if (records[i].alloc_bytes == 6656 || records[i].alloc_bytes == 6912) {
            assert_int_equal(records[i].stack.pc[0], (uintptr_t)stand_in + 1);
            assert_in_range(records[i].stack.depth, 2, PPROF_MAX_STACK);
            seen++;
        }
    }
    assert_int_equal(seen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_block_lives_until_its_end, prepare, clean),
        cmocka_unit_test_setup_teardown(a_block_resized_in_place_lives_on, prepare, clean),
        cmocka_unit_test_setup_teardown(a_block_resized_in_place_twice_lives_on, prepare, clean),
        cmocka_unit_test_setup_teardown(a_late_end_is_that_of_the_first_block, prepare, clean),
        cmocka_unit_test_setup_teardown(a_resized_block_that_is_no_sample_any_more_is_gone, prepare,
                                        clean),
        cmocka_unit_test_setup_teardown(an_end_of_a_block_from_before_is_nothing, prepare, clean),
        cmocka_unit_test_setup_teardown(a_stopped_profile_still_sees_ends, prepare, clean),
        cmocka_unit_test_setup_teardown(hooks_of_the_program_are_called_and_come_back, prepare,
                                        clean),
        cmocka_unit_test_setup_teardown(what_refuses_a_hook_keeps_none, prepare, clean),
        cmocka_unit_test_setup_teardown(stacks_begin_with_the_function_that_was_called, prepare,
                                        clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
