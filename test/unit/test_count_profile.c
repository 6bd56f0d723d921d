/* SPDX-License-Identifier: MIT
 *
 * test_count_profile.c: which rows become one sample, and the order of samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/stack_order.h"
#include "modules/modules.h"
#include "mmap_fault.h"
#include "profile/count_profile.h"
#include "store/labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static pp_arena arena = PP_ARENA_INIT;

static pp_profile build(const pp_count_row *rows, size_t count)
{
    pp_profile profile;
    assert_int_equal(pp_count_profile_build("x.y", rows, count, true, &arena, &profile), 0);
    return profile;
}

/* Whether the profile has a mapping with the address. */
static bool maps(const pp_profile *profile, uintptr_t address)
{
    for (size_t i = 0; i < profile->mapping_count; i++) {
        if (address >= profile->mappings[i].start && address < profile->mappings[i].limit) {
            return true;
        }
    }
    return false;
}

static int release(void **state)
{
    (void)state;
    pp_arena_release(&arena);
    return 0;
}

static void assert_sample(const pp_profile *profile, size_t index, int64_t count,
                          const uintptr_t *pc, uint32_t depth)
{
    assert_in_range(index, 0, profile->sample_count - 1);
    const pp_profile_sample *sample = &profile->samples[index];
    assert_int_equal(sample->value[0], count);
    assert_int_equal(sample->depth, depth);
    assert_memory_equal(sample->pc, pc, depth * sizeof *pc);
}

static void one_type_is_named_after_the_profile(void **state)
{
    (void)state;
    const pp_profile profile = build(NULL, 0);
    assert_int_equal(profile.sample_count, 0);
    assert_int_equal(profile.sample_type_count, 1);
    assert_string_equal(profile.sample_type[0].type, "x.y");
    assert_string_equal(profile.sample_type[0].unit, "count");
    assert_string_equal(profile.period_type.type, "x.y");
    assert_string_equal(profile.period_type.unit, "count");
    assert_int_equal(profile.period, 1);
    assert_int_equal(profile.duration_ns, 0);
    assert_true(profile.time_ns > 0);
    assert_true(profile.mapping_count > 0);
}

/* The same stack, be it the same object or a copy. */
static void equal_stacks_are_one_sample(void **state)
{
    (void)state;
    static const uintptr_t one[] = {0x10, 0x20, 0x30};
    static const uintptr_t copy[] = {0x10, 0x20, 0x30};
    static const uintptr_t other[] = {0x10, 0x20, 0x31};
    const pp_count_row rows[] = {{one, 3, NULL, 1},  {other, 3, NULL, 1}, {copy, 3, NULL, 2},
                                 {one, 2, NULL, 10}, {one, 3, NULL, 4},   {copy, 2, NULL, 10}};
    const pp_profile profile = build(rows, 6);
    assert_int_equal(profile.sample_count, 3);
    assert_sample(&profile, 0, 20, one, 2);
    assert_sample(&profile, 1, 7, one, 3);
    assert_sample(&profile, 2, 1, other, 3);
}

static void empty_stacks_are_one_sample(void **state)
{
    (void)state;
    static const uintptr_t one[] = {0x10};
    const pp_count_row rows[] = {{NULL, 0, NULL, 1}, {one, 1, NULL, 1}, {one, 0, NULL, 1}};
    const pp_profile profile = build(rows, 3);
    assert_int_equal(profile.sample_count, 2);
    assert_int_equal(profile.samples[0].value[0], 2);
    assert_int_equal(profile.samples[0].depth, 0);
}

/* As "@ 0x10 0x1f 0x5" compares with "@ 0x9 0x30". */
static void order_is_by_count_and_then_by_text(void **state)
{
    (void)state;
    static const uintptr_t a[] = {0x10, 0x20};
    static const uintptr_t b[] = {0x9, 0x30};
    static const uintptr_t c[] = {0x10, 0x20, 0x5};
    static const uintptr_t d[] = {0x10, 0x1f, 0x5};
    const pp_count_row rows[] = {
        {a, 2, NULL, 1}, {c, 3, NULL, 1}, {b, 2, NULL, 1}, {d, 3, NULL, 1}, {c, 3, NULL, 1}};
    const pp_profile profile = build(rows, 5);
    assert_int_equal(profile.sample_count, 4);
    assert_sample(&profile, 0, 2, c, 3);
    assert_sample(&profile, 1, 1, d, 3);
    assert_sample(&profile, 2, 1, a, 2);
    assert_sample(&profile, 3, 1, b, 2);
}

/* The texts of two addresses, with what stands behind them in a row, compare as these functions
 * say. */
static void addresses_compare_as_texts(void **state)
{
    (void)state;
    static const uintptr_t addresses[] = {0,           1,
                                          9,           0xa,
                                          0x10,        0x11,
                                          0x1f,        0x90,
                                          0x100,       0x101,
                                          0x401136,    0x40113,
                                          0x9000,      1u << 31,
                                          1u << 28,    0x7f0000001000,
                                          UINTPTR_MAX, (uintptr_t)1 << 63};
    enum { ADDRESSES = sizeof addresses / sizeof *addresses };
    for (size_t i = 0; i < ADDRESSES; i++) {
        for (size_t k = 0; k < ADDRESSES; k++) {
            char x[32];
            char y[32];
            snprintf(x, sizeof x, " 0x%lx", (unsigned long)addresses[i]);
            snprintf(y, sizeof y, " 0x%lx", (unsigned long)addresses[k]);
            int expected = strcmp(x, y);
            int found = pp_stack_compare_texts(&addresses[i], 1, &addresses[k], 1);
            assert_int_equal((found > 0) - (found < 0), (expected > 0) - (expected < 0));
        }
    }
}

/* Far more stacks than the cache of objects holds, each a few times, in an order that
 * evicts them. */
static void many_stacks_keep_their_counts(void **state)
{
    (void)state;
    enum { STACKS = 20000, TIMES = 3 };
    uintptr_t(*stacks)[2] = malloc(STACKS * sizeof *stacks);
    pp_count_row *rows = malloc((size_t)STACKS * TIMES * sizeof *rows);
    for (size_t i = 0; i < STACKS; i++) {
        stacks[i][0] = 0x1000 + i % 7;
        stacks[i][1] = 0x2000 + i;
    }
    for (size_t i = 0; i < (size_t)STACKS * TIMES; i++) {
        size_t stack = i * 7919 % STACKS;
        rows[i] = (pp_count_row){stacks[stack], 2, NULL, (int64_t)stack + 1};
    }
    const pp_profile profile = build(rows, (size_t)STACKS * TIMES);
    assert_int_equal(profile.sample_count, STACKS);
    for (size_t i = 0; i < STACKS; i++) {
        size_t stack = STACKS - 1 - i;
        assert_sample(&profile, i, TIMES * ((int64_t)stack + 1), stacks[stack], 2);
    }
    free(stacks);
    free(rows);
}

static pprof_labels *label(const char *key, const char *value)
{
    int error = 0;
    const char *const pair[] = {key, value};
    pprof_labels *labels = pp_labels_new(NULL, pair, 1, &error);
    assert_non_null(labels);
    return labels;
}

/* Sets that say the same are the same, whoever made them. */
static void rows_with_other_labels_are_other_samples(void **state)
{
    (void)state;
    static const uintptr_t one[] = {0x10, 0x20};
    pprof_labels *sets[] = {label("k", "x"), label("k", "y"), label("k", "x")};
    const pp_count_row rows[] = {
        {one, 2, NULL, 1}, {one, 2, sets[0], 4}, {one, 2, sets[1], 2}, {one, 2, sets[2], 5}};
    const pp_profile profile = build(rows, 4);
    assert_int_equal(profile.sample_count, 3);
    assert_sample(&profile, 0, 9, one, 2);
    assert_string_equal(profile.samples[0].labels[0].key, "k");
    assert_string_equal(profile.samples[0].labels[0].text, "x");
    assert_sample(&profile, 1, 2, one, 2);
    assert_string_equal(profile.samples[1].labels[0].text, "y");
    assert_sample(&profile, 2, 1, one, 2);
    assert_int_equal(profile.samples[2].label_count, 0);
    for (int i = 0; i < 3; i++) {
        pp_labels_unref(sets[i]);
    }
}

/* None; {"a!":"1"}; {"a":"1", "b":"2"}; {"a":"1"}: a comma is less than a brace. */
static void ties_of_one_stack_are_ordered_by_the_text_of_labels(void **state)
{
    (void)state;
    static const uintptr_t one[] = {0x10, 0x20};
    static const char *const pairs[] = {"a", "1", "b", "2"};
    int error = 0;
    pprof_labels *sets[] = {label("a", "1"), pp_labels_new(NULL, pairs, 2, &error),
                            label("a!", "1")};
    const pp_count_row rows[] = {
        {one, 2, sets[0], 1}, {one, 2, sets[1], 1}, {one, 2, NULL, 1}, {one, 2, sets[2], 1}};
    const pp_profile profile = build(rows, 4);
    assert_int_equal(profile.sample_count, 4);
    assert_int_equal(profile.samples[0].label_count, 0);
    assert_string_equal(profile.samples[1].labels[0].key, "a!");
    assert_int_equal(profile.samples[2].label_count, 2);
    assert_int_equal(profile.samples[3].label_count, 1);
    for (int i = 0; i < 3; i++) {
        pp_labels_unref(sets[i]);
    }
}

static void without_labels_they_are_one(void **state)
{
    (void)state;
    static const uintptr_t one[] = {0x10, 0x20};
    pprof_labels *set = label("k", "x");
    const pp_count_row rows[] = {{one, 2, NULL, 1}, {one, 2, set, 4}};
    pp_profile profile;
    assert_int_equal(pp_count_profile_build("x.y", rows, 2, false, &arena, &profile), 0);
    assert_int_equal(profile.sample_count, 1);
    assert_sample(&profile, 0, 5, one, 2);
    assert_int_equal(profile.samples[0].label_count, 0);
    pp_labels_unref(set);
}

static int build_one(void *unused)
{
    (void)unused;
    static const uintptr_t one[] = {0x10, 0x20, 0x30};
    const pp_count_row rows[] = {{one, 3, NULL, 1}};
    pp_profile profile;
    int error = pp_count_profile_build("x.y", rows, 1, true, &arena, &profile);
    pp_arena_release(&arena);
    return error;
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    needs_mmap_fault();
    assert_true(mappings_needed(build_one, NULL) > 0);
}

/* Generated code, say. Where a profile is large, its frames are not looked at. */
static void code_of_no_object_has_a_mapping_if_a_row_may_be_in_it(void **state)
{
    (void)state;
    enum { PAGE = 4096, MANY = 1 << 18 };
    static uintptr_t many[MANY];
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    const uintptr_t code = (uintptr_t)page;
    const uintptr_t own = (uintptr_t)build + 1;
    const uintptr_t libc = (uintptr_t)strchr + 1;
    const uintptr_t pcs[] = {own, libc, own, code + 1};
    const pp_count_row in_objects[] = {{pcs, 3, NULL, 1}, {pcs, 0, NULL, 1}};
    const pp_count_row elsewhere = {pcs, 4, NULL, 1};
    const pp_count_row large = {many, MANY, NULL, 1};
    pp_modules_refresh();
    pp_profile profile = build(in_objects, 2);
    assert_true(maps(&profile, own - 1));
    assert_true(maps(&profile, libc - 1));
    assert_false(maps(&profile, code));
    profile = build(&elsewhere, 1);
    assert_true(maps(&profile, libc - 1));
    assert_true(maps(&profile, code));
    for (size_t i = 0; i < MANY; i++) {
        many[i] = own;
    }
    profile = build(&large, 1);
    assert_true(maps(&profile, code));
    munmap(page, PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_type_is_named_after_the_profile, release),
        cmocka_unit_test_teardown(equal_stacks_are_one_sample, release),
        cmocka_unit_test_teardown(empty_stacks_are_one_sample, release),
        cmocka_unit_test_teardown(order_is_by_count_and_then_by_text, release),
        cmocka_unit_test(addresses_compare_as_texts),
        cmocka_unit_test_teardown(ties_of_one_stack_are_ordered_by_the_text_of_labels, release),
        cmocka_unit_test_teardown(many_stacks_keep_their_counts, release),
        cmocka_unit_test_teardown(rows_with_other_labels_are_other_samples, release),
        cmocka_unit_test_teardown(without_labels_they_are_one, release),
        cmocka_unit_test_teardown(code_of_no_object_has_a_mapping_if_a_row_may_be_in_it, release),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
