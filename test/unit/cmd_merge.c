/* SPDX-License-Identifier: MIT
 *
 * cmd_merge.c: sums and differences of profiles, and writing the result.
 */
#include "cmd_builder.h"

#include "import/profile_file.h"
#include "profile/profile_encode.h"
#include "profile/profile_merge.h"
#include "profile/profile_units.h"

#include <stdlib.h>

static cp_profile *merge(cp_profile *first, cp_profile *second)
{
    cp_profile *both[] = {first, second}, *merged = NULL;
    cp_error error;

    if (cp_profile_align_units(both, 2, &error) < 0 ||
        cp_profile_merge(both, 2, &merged, &error) < 0) {
        fail_msg("%s", error.text);
    }
    cp_profile_free(first);
    cp_profile_free(second);
    return merged;
}

static void equal_stacks_are_added(void **state)
{
    cp_profile *a = new_model("cpu", "ns"), *b = new_model("cpu", "ns");

    (void)state;
    add_sample(a, "work main", 3);
    add_sample(a, "idle main", 1);
    add_sample(b, "idle main", 5);
    add_sample(b, "other", 2);
    add_sample(b, "work main", 4);
    cp_profile *merged = merge(a, b);
    assert_int_equal(merged->sample_count, 3);
    assert_string_equal(stack_of(merged, 0), "work main");
    assert_int_equal(merged->samples[0].values[0], 7);
    assert_int_equal(merged->samples[1].values[0], 6);
    assert_int_equal(merged->samples[2].values[0], 2);
    assert_int_equal(merged->function_count, 4);
    assert_int_equal(merged->location_count, 4);
    cp_profile_free(merged);
}

static void what_is_not_used_is_left_out(void **state)
{
    cp_profile *a = new_model("cpu", "ns"), *b = new_model("cpu", "ns");

    (void)state;
    add_sample(a, "zero", 0);
    add_sample(a, "work", 3);
    add_sample(b, "gone", 5);
    add_sample(b, "gone", -5);
    cp_profile *merged = merge(a, b);
    assert_int_equal(merged->sample_count, 1);
    assert_int_equal(merged->location_count, 1);
    assert_int_equal(merged->function_count, 1);
    cp_profile_free(merged);
}

static void labels_keep_samples_apart(void **state)
{
    cp_profile *a = new_model("cpu", "ns"), *b = new_model("cpu", "ns");

    (void)state;
    add_sample(a, "work", 3);
    add_sample(b, "work", 4);
    b->samples[0].labels = CP_POOL_ARRAY(&b->pool, cp_label, 1);
    b->samples[0].labels[0].key = cp_strings_put(&b->strings, "phase");
    b->samples[0].labels[0].text = cp_strings_put(&b->strings, "burn");
    b->samples[0].label_count = 1;
    cp_profile *merged = merge(a, b);
    assert_int_equal(merged->sample_count, 2);
    assert_int_equal(merged->location_count, 1);
    assert_string_equal(cp_profile_text(merged, merged->samples[1].labels[0].text), "burn");
    cp_profile_free(merged);
}

static void add_mapping(cp_profile *profile, uint64_t start, const char *build_id)
{
    cp_mapping *mapping = &profile->mappings[profile->mapping_count++];

    mapping->start = start;
    mapping->limit = start + 0x2ff0;
    mapping->build_id = cp_strings_put(&profile->strings, build_id);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        profile->locations[i].mapping = 0;
        profile->locations[i].address = start + 0x100 + UINT64_C(0x10) * i;
    }
}

static void programs_are_the_same_wherever_they_were_loaded(void **state)
{
    cp_profile *a = new_model("cpu", "ns"), *b = new_model("cpu", "ns");

    (void)state;
    add_sample(a, "work", 3);
    add_mapping(a, 0x400000, "abc");
    add_sample(b, "work", 4);
    add_mapping(b, 0x7f0000, "abc");
    cp_profile *merged = merge(a, b);
    assert_int_equal(merged->mapping_count, 1);
    assert_int_equal(merged->sample_count, 1);
    assert_int_equal(merged->locations[0].address, 0x400100);
    assert_int_equal(merged->samples[0].values[0], 7);
    cp_profile_free(merged);
}

static void different_programs_stay_apart(void **state)
{
    cp_profile *a = new_model("cpu", "ns"), *b = new_model("cpu", "ns");

    (void)state;
    add_sample(a, "work", 3);
    add_mapping(a, 0x400000, "abc");
    add_sample(b, "work", 4);
    add_mapping(b, 0x400000, "def");
    cp_profile *merged = merge(a, b);
    assert_int_equal(merged->mapping_count, 2);
    assert_int_equal(merged->sample_count, 2);
    assert_int_equal(merged->function_count, 1);
    cp_profile_free(merged);
}

static void units_become_the_finest(void **state)
{
    cp_profile *a = new_model("cpu", "ms"), *b = new_model("cpu", "us");

    (void)state;
    add_sample(a, "work", 3);
    add_sample(b, "work", 4);
    cp_profile *merged = merge(a, b);
    assert_string_equal(cp_profile_text(merged, merged->sample_types[0].unit), "us");
    assert_int_equal(merged->samples[0].values[0], 3004);
    cp_profile_free(merged);
}

static void different_kinds_are_refused(void **state)
{
    cp_profile *both[] = {new_model("cpu", "ms"), new_model("space", "bytes")};

    (void)state;
    cp_error error;
    assert_int_equal(cp_profile_align_units(both, 2, &error), -1);
    assert_non_null(strstr(error.text, "cpu/ms"));
    assert_non_null(strstr(error.text, "space/bytes"));
    cp_profile_free(both[0]);
    cp_profile_free(both[1]);
}

static void headers_are_combined(void **state)
{
    cp_profile *a = new_model("cpu", "ns"), *b = new_model("cpu", "ns");

    (void)state;
    a->time_nanos = 2000;
    b->time_nanos = 1000;
    a->duration_nanos = 5;
    b->duration_nanos = 6;
    a->period = 10;
    b->period = 20;
    b->default_sample_type = cp_strings_put(&b->strings, "cpu");
    a->comments = CP_POOL_ARRAY(&a->pool, cp_string, 1);
    a->comments[a->comment_count++] = cp_strings_put(&a->strings, "said once");
    b->comments = CP_POOL_ARRAY(&b->pool, cp_string, 2);
    b->comments[b->comment_count++] = cp_strings_put(&b->strings, "and more");
    b->comments[b->comment_count++] = cp_strings_put(&b->strings, "said once");
    cp_profile *merged = merge(a, b);
    assert_int_equal(merged->time_nanos, 1000);
    assert_int_equal(merged->duration_nanos, 11);
    assert_int_equal(merged->period, 20);
    assert_int_equal(merged->comment_count, 2);
    assert_string_equal(cp_profile_text(merged, merged->default_sample_type), "cpu");
    cp_profile_free(merged);
}

static void add_comment(cp_profile *profile, const char *text)
{
    if (!profile->comments) {
        profile->comments = CP_POOL_ARRAY(&profile->pool, cp_string, 4);
    }
    profile->comments[profile->comment_count++] = cp_strings_put(&profile->strings, text);
}

static void counts_of_one_profile_are_not_those_of_the_sum(void **state)
{
    cp_profile *a = new_model("cpu", "ns"), *b = new_model("cpu", "ns");

    (void)state;
    add_comment(a, "libpprof: timer engine; of 3 samples 3 have whole stacks");
    add_comment(a, "libpprof: said by both");
    add_comment(a, "of another tool");
    add_comment(b, "libpprof: said by both");
    add_comment(b, "libpprof: timer engine; of 5 samples 5 have whole stacks");
    add_comment(b, "of another tool");
    cp_profile *merged = merge(a, b);
    assert_int_equal(merged->comment_count, 4);
    assert_string_equal(
        cp_profile_text(merged, merged->comments[0]),
        "libpprof: in 1 of 2 profiles: timer engine; of 3 samples 3 have whole stacks");
    assert_string_equal(cp_profile_text(merged, merged->comments[1]),
                        "libpprof: in 2 of 2 profiles: said by both");
    assert_string_equal(cp_profile_text(merged, merged->comments[2]), "of another tool");
    assert_string_equal(
        cp_profile_text(merged, merged->comments[3]),
        "libpprof: in 1 of 2 profiles: timer engine; of 5 samples 5 have whole stacks");
    cp_profile_free(merged);
}

static void subtraction_leaves_the_difference(void **state)
{
    cp_profile *a = new_model("cpu", "ns"), *b = new_model("cpu", "ns");

    (void)state;
    add_sample(a, "same", 3);
    add_sample(a, "grew", 9);
    add_sample(b, "same", 3);
    add_sample(b, "grew", 4);
    add_sample(b, "gone", 2);
    cp_profile *difference;
    cp_error error;
    assert_int_equal(cp_profile_subtract(a, b, &difference, &error), 0);
    assert_int_equal(difference->sample_count, 2);
    assert_int_equal(difference->samples[0].values[0], 5);
    assert_string_equal(stack_of(difference, 1), "gone");
    assert_int_equal(difference->samples[1].values[0], -2);
    cp_profile_free(difference);
}

/* Every part of a profile survives writing and reading. */
static void written_profiles_read_the_same(void **state)
{
    cp_profile *profile = new_model("cpu", "ns");
    pp_buffer first = PP_BUFFER_INIT, second = PP_BUFFER_INIT;

    (void)state;
    add_sample(profile, "inner<outer main", -3);
    add_sample(profile, "work main", INT64_MAX);
    add_mapping(profile, 0x400000, "abc");
    profile->locations[1].mapping = CP_NO_MAPPING;
    profile->locations[0].folded = true;
    profile->mappings[0].has_filenames = true;
    profile->samples[1].labels = CP_POOL_ARRAY(&profile->pool, cp_label, 1);
    profile->samples[1].labels[0] =
        (cp_label){cp_strings_put(&profile->strings, "bytes"), 0, -7, true};
    profile->samples[1].label_count = 1;
    profile->drop_frames = cp_strings_put(&profile->strings, "malloc");
    profile->time_nanos = 123;
    cp_profile_encode(profile, &first);
    cp_profile *again;
    cp_error error;
    if (cp_profile_read_bytes(first.data, first.size, 1 << 20, &again, &error) < 0) {
        fail_msg("%s", error.text);
    }
    cp_profile_encode(again, &second);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    assert_string_equal(stack_of(again, 0), "inner<outer main");
    assert_int_equal(again->samples[1].labels[0].number, -7);
    cp_profile_free(profile);
    cp_profile_free(again);
    pp_buffer_release(&first);
    pp_buffer_release(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_are_added),
        cmocka_unit_test(what_is_not_used_is_left_out),
        cmocka_unit_test(labels_keep_samples_apart),
        cmocka_unit_test(programs_are_the_same_wherever_they_were_loaded),
        cmocka_unit_test(different_programs_stay_apart),
        cmocka_unit_test(units_become_the_finest),
        cmocka_unit_test(different_kinds_are_refused),
        cmocka_unit_test(headers_are_combined),
        cmocka_unit_test(counts_of_one_profile_are_not_those_of_the_sum),
        cmocka_unit_test(subtraction_leaves_the_difference),
        cmocka_unit_test(written_profiles_read_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
