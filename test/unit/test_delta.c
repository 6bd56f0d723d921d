/* SPDX-License-Identifier: MIT
 *
 * test_delta.c: the difference of two snapshots: which samples are the same one, what is left, and in which order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/delta.h"

static pp_arena arena = PP_ARENA_INIT;

static int release(void **state)
{
    (void)state;
    pp_arena_release(&arena);
    return 0;
}

static const uintptr_t main_stack[] = {0x10, 0x20};
static const uintptr_t copy_of_main_stack[] = {0x10, 0x20};
static const uintptr_t other_stack[] = {0x10, 0x21};

static const pp_sample_label small = {.key = "bytes", .number = 16, .unit = "bytes"};
static const pp_sample_label large = {.key = "bytes", .number = 4096, .unit = "bytes"};
static const pp_sample_label search = {.key = "phase", .text = "search"};

static pp_profile_sample sample(const uintptr_t *pc, const pp_sample_label *label, int64_t count,
                                int64_t bytes)
{
    return (pp_profile_sample){.pc = pc,
                               .depth = 2,
                               .labels = label,
                               .label_count = label != NULL,
                               .value = {count, bytes}};
}

static pp_profile of(const pp_profile_sample *samples, size_t count)
{
    return (pp_profile){.sample_type_count = 2,
                        .sample_type = {{"objects", "count"}, {"space", "bytes"}},
                        .samples = samples,
                        .sample_count = count};
}

static void subtract(pp_profile *now, const pp_profile *before)
{
    assert_int_equal(pp_profile_subtract(now, before, &arena), 0);
}

static void assert_values(const pp_profile *profile, size_t index, int64_t count, int64_t bytes)
{
    assert_in_range(index, 0, profile->sample_count - 1);
    assert_int_equal(profile->samples[index].value[0], count);
    assert_int_equal(profile->samples[index].value[1], bytes);
}

static void equal_stacks_are_one_sample_wherever_they_lie(void **state)
{
    (void)state;
    const pp_profile_sample first[] = {sample(main_stack, &small, 2, 32)};
    const pp_profile_sample second[] = {sample(copy_of_main_stack, &small, 5, 80)};
    const pp_profile before = of(first, 1);
    pp_profile now = of(second, 1);
    subtract(&now, &before);
    assert_int_equal(now.sample_count, 1);
    assert_values(&now, 0, 3, 48);
}

/* As of one stack in two tables, which are not read in the same order again. */
static void equal_samples_of_one_profile_are_added_up(void **state)
{
    (void)state;
    const pp_profile_sample first[] = {sample(main_stack, &small, 2, 32),
                                       sample(copy_of_main_stack, &small, 7, 112)};
    const pp_profile_sample second[] = {sample(main_stack, &small, 8, 128),
                                        sample(copy_of_main_stack, &small, 2, 32)};
    const pp_profile before = of(first, 2);
    pp_profile now = of(second, 2);
    subtract(&now, &before);
    assert_int_equal(now.sample_count, 1);
    assert_values(&now, 0, 1, 16);
}

static void what_has_not_changed_is_dropped(void **state)
{
    (void)state;
    const pp_profile_sample same[] = {sample(main_stack, NULL, 2, 32),
                                      sample(other_stack, NULL, 1, 8)};
    const pp_profile before = of(same, 2);
    pp_profile now = of(same, 2);
    subtract(&now, &before);
    assert_int_equal(now.sample_count, 0);
}

static void a_sample_that_is_gone_is_negative(void **state)
{
    (void)state;
    const pp_profile_sample first[] = {sample(main_stack, NULL, 2, 32)};
    const pp_profile before = of(first, 1);
    pp_profile now = of(NULL, 0);
    subtract(&now, &before);
    assert_int_equal(now.sample_count, 1);
    assert_values(&now, 0, -2, -32);
}

static void labels_tell_samples_of_one_stack_apart(void **state)
{
    (void)state;
    const pp_profile_sample first[] = {sample(main_stack, &small, 2, 32),
                                       sample(main_stack, &search, 1, 1)};
    const pp_profile_sample second[] = {sample(main_stack, &large, 1, 4096),
                                        sample(main_stack, &small, 3, 48),
                                        sample(main_stack, &search, 4, 4)};
    const pp_profile before = of(first, 2);
    pp_profile now = of(second, 3);
    subtract(&now, &before);
    assert_int_equal(now.sample_count, 3);
    assert_values(&now, 0, 1, 4096);
    assert_values(&now, 1, 1, 16);
    assert_values(&now, 2, 3, 3);
}

static void the_type_that_is_shown_first_gives_the_order(void **state)
{
    (void)state;
    const pp_profile_sample list[] = {sample(main_stack, NULL, 1, 100),
                                      sample(other_stack, NULL, 9, 10)};
    const pp_profile before = of(NULL, 0);
    pp_profile now = of(list, 2);
    now.default_sample_type = "objects";
    subtract(&now, &before);
    assert_values(&now, 0, 9, 10);
    now = of(list, 2);
    subtract(&now, &before);
    assert_values(&now, 0, 1, 100);
}

static unsigned random_below(unsigned limit)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (state >> 8) % limit;
}

/* A naive twin: the sums of all values are those of the difference. */
static void sums_of_many_samples_are_right(void **state)
{
    enum { MANY = 3000 };
    (void)state;
    static uintptr_t stacks[2 * MANY][2];
    static pp_profile_sample first[MANY], second[MANY];
    int64_t sum = 0;
    for (size_t i = 0; i < 2 * MANY; i++) {
        stacks[i][0] = 1 + random_below(MANY);
        stacks[i][1] = i % MANY; /* no stack twice in one profile */
    }
    for (size_t i = 0; i < MANY; i++) {
        first[i] = sample(stacks[i], NULL, random_below(100), 1);
        second[i] = sample(stacks[i % 2 == 0 ? i : MANY + i], NULL, random_below(100), 1);
        sum += second[i].value[0] - first[i].value[0];
    }
    const pp_profile before = of(first, MANY);
    pp_profile now = of(second, MANY);
    subtract(&now, &before);
    for (size_t i = 0; i < now.sample_count; i++) {
        sum -= now.samples[i].value[0];
    }
    assert_int_equal(sum, 0);
    assert_true(now.sample_count < 2 * MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(equal_stacks_are_one_sample_wherever_they_lie, release),
        cmocka_unit_test_teardown(equal_samples_of_one_profile_are_added_up, release),
        cmocka_unit_test_teardown(what_has_not_changed_is_dropped, release),
        cmocka_unit_test_teardown(a_sample_that_is_gone_is_negative, release),
        cmocka_unit_test_teardown(labels_tell_samples_of_one_stack_apart, release),
        cmocka_unit_test_teardown(the_type_that_is_shown_first_gives_the_order, release),
        cmocka_unit_test_teardown(sums_of_many_samples_are_right, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
