/* SPDX-License-Identifier: MIT
 *
 * test_sample_labels.c: the labels of a sample: the set's, copied, and those of the profile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mmap_fault.h"
#include "profile/samples.h"

static const pp_sample_label waiting = {.key = "state", .text = "waiting"};
static const pp_sample_label bytes = {.key = "bytes", .number = 64, .unit = "bytes"};

static pp_arena arena = PP_ARENA_INIT;

static int release(void **state)
{
    (void)state;
    pp_arena_release(&arena);
    return 0;
}

static pprof_labels *make(const char *const *key_values, size_t pairs)
{
    int error = 0;
    pprof_labels *labels = pp_labels_new(NULL, key_values, pairs, &error);
    assert_non_null(labels);
    return labels;
}

static void assert_label(const pp_profile_sample *sample, uint32_t index, const char *key,
                         const char *text)
{
    assert_in_range(index, 0, sample->label_count - 1);
    assert_string_equal(sample->labels[index].key, key);
    assert_string_equal(sample->labels[index].text, text);
}

static void labels_are_in_the_order_of_their_keys(void **state)
{
    (void)state;
    static const char *const pairs[] = {"tenant", "b", "path", "/", "a", "1"};
    pprof_labels *labels = make(pairs, 3);
    pp_profile_sample sample = {0};
    assert_true(pp_labels_to_sample_labels(labels, NULL, 0, &arena, &sample));
    assert_int_equal(sample.label_count, 3);
    assert_label(&sample, 0, "a", "1");
    assert_label(&sample, 1, "path", "/");
    assert_label(&sample, 2, "tenant", "b");
    pp_labels_unref(labels);
}

/* The memory of a set that is gone belongs to the next one. */
static void they_outlive_the_set(void **state)
{
    (void)state;
    static const char *const pairs[] = {"key", "value"};
    static const char *const others[] = {"yek", "eulav"};
    pprof_labels *labels = make(pairs, 1);
    pp_profile_sample sample = {0};
    assert_true(pp_labels_to_sample_labels(labels, NULL, 0, &arena, &sample));
    pp_labels_unref(labels);
    pp_labels_unref(make(others, 1));
    assert_int_equal(sample.label_count, 1);
    assert_label(&sample, 0, "key", "value");
}

static void no_labels_are_none(void **state)
{
    (void)state;
    pprof_labels *empty = make(NULL, 0);
    pp_profile_sample sample = {.label_count = 7};
    assert_true(pp_labels_to_sample_labels(NULL, NULL, 0, &arena, &sample));
    assert_int_equal(sample.label_count, 0);
    assert_true(pp_labels_to_sample_labels(empty, &bytes, 1, &arena, &sample));
    assert_int_equal(sample.label_count, 1);
    assert_ptr_equal(sample.labels, &bytes);
    pp_labels_unref(empty);
}

static void the_profile_s_own_come_last(void **state)
{
    (void)state;
    static const char *const pairs[] = {"z", "1", "a", "many"};
    pprof_labels *labels = make(pairs, 2);
    pp_profile_sample sample = {0};
    assert_true(pp_labels_to_sample_labels(labels, &bytes, 1, &arena, &sample));
    assert_int_equal(sample.label_count, 3);
    assert_label(&sample, 0, "a", "many");
    assert_label(&sample, 1, "z", "1");
    assert_int_equal(sample.labels[2].number, 64);
    pp_labels_unref(labels);
}

static void they_replace_those_of_the_same_key(void **state)
{
    (void)state;
    static const char *const pairs[] = {"state", "new", "town", "x"};
    pprof_labels *labels = make(pairs, 2);
    pp_profile_sample sample = {0};
    assert_true(pp_labels_to_sample_labels(labels, &waiting, 1, &arena, &sample));
    assert_int_equal(sample.label_count, 2);
    assert_label(&sample, 0, "town", "x");
    assert_label(&sample, 1, "state", "waiting");
    pp_labels_unref(labels);
}

/* profile.proto does not show them: that is its encoder's. */
static void empty_values_are_kept(void **state)
{
    (void)state;
    static const char *const pairs[] = {"a", "", "b", "1", "c", ""};
    pprof_labels *labels = make(pairs, 3);
    pp_profile_sample sample = {0};
    assert_true(pp_labels_to_sample_labels(labels, NULL, 0, &arena, &sample));
    assert_int_equal(sample.label_count, 3);
    assert_label(&sample, 0, "a", "");
    assert_label(&sample, 1, "b", "1");
    assert_label(&sample, 2, "c", "");
    pp_labels_unref(labels);
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    needs_mmap_fault();
    static const char *const pairs[] = {"key", "value"};
    pprof_labels *labels = make(pairs, 1);
    pp_profile_sample sample = {0};
    mappings_left = 0;
    bool enough = pp_labels_to_sample_labels(labels, NULL, 0, &arena, &sample);
    mappings_left = LONG_MAX;
    assert_false(enough);
    pp_labels_unref(labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(labels_are_in_the_order_of_their_keys, release),
        cmocka_unit_test_teardown(they_outlive_the_set, release),
        cmocka_unit_test_teardown(no_labels_are_none, release),
        cmocka_unit_test_teardown(the_profile_s_own_come_last, release),
        cmocka_unit_test_teardown(they_replace_those_of_the_same_key, release),
        cmocka_unit_test_teardown(empty_values_are_kept, release),
        cmocka_unit_test_teardown(without_memory_it_says_so, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
