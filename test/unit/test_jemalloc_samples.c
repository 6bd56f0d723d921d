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
typedef void walk_hook(void **stack, unsigned *depth, unsigned room);

static sample_hook *sample;
static free_hook *freed;
static walk_hook *walk;
static size_t shift;
static bool refuses;

static int stand_in(const char *name, void *old, size_t *old_size, void *changed, size_t size)
{
    void *where = strcmp(name, "experimental.hooks.prof_sample") == 0        ? (void *)&sample
                  : strcmp(name, "experimental.hooks.prof_sample_free") == 0 ? (void *)&freed
                  : strcmp(name, "experimental.hooks.prof_backtrace") == 0   ? (void *)&walk
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

enum { ROOM = 64 };

static unsigned own_walks;

static void own_walk(void **stack, unsigned *depth, unsigned room)
{
    assert_true(room > 0);
    stack[0] = stand_in;
    *depth = 1;
    own_walks++;
}

static void another_walk(void **stack, unsigned *depth, unsigned room)
{
    own_walk(stack, depth, room);
}

static pp_jemalloc jemalloc = {.ask = stand_in};

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
    walk = own_walk;
    own_walks = 0;
    jemalloc.walk = (uintptr_t)own_walk;
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

/* ---- who walks ---- */

/* The one record of blocks of that size. */
static pprof_mem_record record_of(size_t size)
{
    static pprof_mem_record records[512];
    size_t n = 0;
    assert_true(pprof_mem_profile(records, sizeof records / sizeof *records, &n, true));
    for (size_t i = 0; i < n; i++) {
        if (records[i].alloc_bytes == (int64_t)size) {
            return records[i];
        }
    }
    fail();
    return (pprof_mem_record){0};
}

static unsigned walks_from_here(void **stack, unsigned room)
{
    unsigned depth = 0;
    walk(stack, &depth, room);
    return depth;
}

/* jemalloc has the stack from us, and gives it back with the sample: nobody walks again. */
static void a_stack_is_walked_once(void **state)
{
    void *stack[ROOM];
    (void)state;
    errno = 7;
    unsigned depth = walks_from_here(stack, ROOM);
    assert_int_equal(errno, 7);
    assert_int_equal(own_walks, 0);
    assert_in_range(depth, 2, ROOM);
    stack[0] = (char *)stand_in + 1;
    sample(block(12), 7167, stack, depth, 7168);
    pprof_mem_record record = record_of(7168);
    assert_int_equal(record.stack.depth, depth);
    assert_memory_equal(record.stack.pc, stack, depth * sizeof *stack);
    report_end(12, 7168);
    assert_counts(7168, 1, 0);
}

/* ... and without such a stack the sample's is found anew. */
static void a_sample_without_our_walk_is_walked(void **state)
{
    void *stack[ROOM] = {(char *)stand_in + 1};
    (void)state;
    walks_from_here(stack, ROOM);
    sample(block(12), 7423, stack, 1, 7424);
    assert_int_equal(record_of(7424).stack.depth, 1);
    sample(block(13), 7679, stack, 1, 7680);
    assert_true(record_of(7680).stack.depth > 1);
}

static void a_stack_that_has_no_room_is_jemallocs(void **state)
{
    void *stack[ROOM];
    (void)state;
    assert_int_equal(walks_from_here(stack, 1), 1);
    assert_int_equal(own_walks, 1);
    assert_ptr_equal(stack[0], stand_in);
    sample(block(14), 7935, stack, 1, 7936);
    assert_true(record_of(7936).stack.depth > 1);
}

static void a_stopped_profile_leaves_the_walk_to_jemalloc(void **state)
{
    void *stack[ROOM];
    (void)state;
    pprof_set_mem_profile_rate(0);
    walks_from_here(stack, ROOM);
    assert_int_equal(own_walks, 1);
    pp_jemalloc_end();
    assert_ptr_equal(walk, own_walk);
}

static void a_walk_of_the_programs_own_stays(void **state)
{
    (void)state;
    pp_jemalloc_end();
    walk = another_walk;
    assert_int_equal(pp_jemalloc_begin(&jemalloc, true), 0);
    assert_ptr_equal(walk, another_walk);
    pp_jemalloc_end();
    walk = own_walk;
    assert_int_equal(pp_jemalloc_begin(&jemalloc, true), 0);
    assert_ptr_not_equal(walk, own_walk);
    walk = another_walk; /* set later */
    pp_jemalloc_end();
    assert_ptr_equal(walk, another_walk);
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
        cmocka_unit_test_setup_teardown(a_stack_is_walked_once, prepare, clean),
        cmocka_unit_test_setup_teardown(a_sample_without_our_walk_is_walked, prepare, clean),
        cmocka_unit_test_setup_teardown(a_stack_that_has_no_room_is_jemallocs, prepare, clean),
        cmocka_unit_test_setup_teardown(a_stopped_profile_leaves_the_walk_to_jemalloc, prepare,
                                        clean),
        cmocka_unit_test_setup_teardown(a_walk_of_the_programs_own_stays, prepare, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
