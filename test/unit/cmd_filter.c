/* SPDX-License-Identifier: MIT
 *
 * cmd_filter.c: drop_frames, --focus, --ignore, and the names that they see.
 */
#include "cmd_builder.h"

#include "base/regex.h"
#include "profile/name_filter.h"
#include "profile/profile_filter.h"

#include <stdlib.h>

static cp_profile *stack(const char *frames)
{
    cp_profile *profile = new_model("cpu", "ns");

    add_sample(profile, frames, 1);
    return profile;
}

static void expect_pruned(const char *frames, const char *drop, const char *keep,
                          const char *expected)
{
    cp_profile *profile = stack(frames);

    profile->drop_frames = cp_strings_put(&profile->strings, drop);
    profile->keep_frames = cp_strings_put(&profile->strings, keep);
    cp_profile_prune(profile);
    assert_string_equal(stack_of(profile, 0), expected);
    cp_profile_free(profile);
}

static void matches_go_with_what_they_called(void **state)
{
    (void)state;
    expect_pruned("brk morecore malloc work main", "malloc|free", "", "work main");
}

static void the_match_nearest_to_the_root_counts(void **state)
{
    (void)state;
    expect_pruned("malloc hook malloc work main", "malloc", "", "work main");
}

static void the_whole_name_must_match(void **state)
{
    (void)state;
    expect_pruned("my_malloc main", "malloc", "", "my_malloc main");
}

static void kept_names_stay(void **state)
{
    (void)state;
    expect_pruned("brk malloc_slow work main", "malloc.*", "malloc_slow",
                  "brk malloc_slow work main");
}

static void roots_are_never_dropped(void **state)
{
    (void)state;
    expect_pruned("work main start", "start|main", "", "work main start");
}

static void inlined_frames_are_cut_inside_a_location(void **state)
{
    (void)state;
    expect_pruned("memset<malloc<work main", "malloc", "", "work main");
}

static void invalid_expressions_are_ignored(void **state)
{
    (void)state;
    expect_pruned("malloc main", "(", "", "malloc main");
    expect_pruned("malloc main", "malloc", "(", "malloc main");
}

static void parameters_are_not_part_of_the_name(void **state)
{
    (void)state;
    expect_pruned("ns::alloc(int) main", "ns::alloc", "", "main");
    expect_pruned("F::operator()(int) main", "F::operator\\(\\)", "", "main");
}

static uint32_t focus(cp_profile *profile, const char *focus, const char *ignore)
{
    cp_error error;
    cp_regex *focus_regex = focus ? cp_regex_compile(focus, &error) : NULL;
    cp_regex *ignore_regex = ignore ? cp_regex_compile(ignore, &error) : NULL;

    cp_regex *const filters[CP_NAME_FILTERS] = {
        [CP_FOCUS] = focus_regex, [CP_IGNORE] = ignore_regex};
    bool matched[CP_NAME_FILTERS];

    cp_profile_filter_names(profile, filters, false, matched);
    cp_regex_free(focus_regex);
    cp_regex_free(ignore_regex);
    return profile->sample_count;
}

static cp_profile *three_samples(void)
{
    cp_profile *profile = new_model("cpu", "ns");

    add_sample(profile, "a main", 1);
    add_sample(profile, "b main", 1);
    add_sample(profile, "b a main", 1);
    add_sample(profile, "", 1); /* nothing to match */
    profile->samples[3].location_count = 0;
    return profile;
}

static void samples_are_chosen_by_any_of_their_frames(void **state)
{
    static const struct {
        const char *focus, *ignore;
        uint32_t left;
    } cases[] = {{NULL, NULL, 3},   {"^a$", NULL, 2}, {NULL, "^a$", 1},
                 {"^b$", "^a$", 1}, {"x", NULL, 0},   {"main", "x", 3}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cp_profile *profile = three_samples();
        assert_int_equal(focus(profile, cases[i].focus, cases[i].ignore), cases[i].left);
        cp_profile_free(profile);
    }
}

static void files_and_programs_match_too(void **state)
{
    cp_profile *profile = three_samples();

    (void)state;
    profile->functions[0].filename = cp_strings_put(&profile->strings, "src/a.c");
    profile->mapping_count = 1;
    profile->mappings[0].file = cp_strings_put(&profile->strings, "/lib/libb.so");
    profile->locations[add_location(profile, "b")].mapping = 0;
    assert_int_equal(focus(profile, "a\\.c|libb", NULL), 3);
    assert_int_equal(focus(profile, NULL, "libb"), 1);
    cp_profile_free(profile);
}

static void symbols_get_readable_names(void **state)
{
    cp_profile *profile = stack("_ZN2ns4workEi main");

    (void)state;
    profile->functions[1].name = cp_strings_put(&profile->strings, "given");
    cp_profile_demangle(profile);
    assert_string_equal(stack_of(profile, 0), "ns::work given");
    cp_profile_free(profile);
}

static void urls_are_no_programs(void **state)
{
    cp_profile *profile = stack("main");

    (void)state;
    profile->mapping_count = 2;
    profile->mappings[0].file = cp_strings_put(&profile->strings, "http://host/debug");
    profile->mappings[1].file = cp_strings_put(&profile->strings, "/opt/a:b");
    cp_profile_forget_urls(profile);
    assert_int_equal(profile->mappings[0].file, 0);
    assert_int_not_equal(profile->mappings[1].file, 0);
    cp_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_go_with_what_they_called),
        cmocka_unit_test(the_match_nearest_to_the_root_counts),
        cmocka_unit_test(the_whole_name_must_match),
        cmocka_unit_test(kept_names_stay),
        cmocka_unit_test(roots_are_never_dropped),
        cmocka_unit_test(inlined_frames_are_cut_inside_a_location),
        cmocka_unit_test(invalid_expressions_are_ignored),
        cmocka_unit_test(parameters_are_not_part_of_the_name),
        cmocka_unit_test(samples_are_chosen_by_any_of_their_frames),
        cmocka_unit_test(files_and_programs_match_too),
        cmocka_unit_test(symbols_get_readable_names),
        cmocka_unit_test(urls_are_no_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
