/* SPDX-License-Identifier: MIT
 *
 * cmd_report.c: the sums in the rows of a report.
 */
#include "cmd_builder.h"

#include "report/report.h"
#include "report/report_text.h"

#include <stdio.h>
#include <stdlib.h>

struct text {
    char *data;
    size_t length;
};

/* Returns the table of a report on the profile, and frees the profile. */
static struct text rows_of(cp_profile *profile, const cp_report_options *options)
{
    struct text text = {NULL, 0};
    FILE *out = open_memstream(&text.data, &text.length);

    cp_report report;
    cp_error error;
    if (cp_report_init(&report, profile, options, &error) < 0) {
        fail_msg("%s", error.text);
    }
    cp_report_build_graph(&report, false);
    cp_report_print_summary(&report, out);
    cp_report_print_rows(&report, out);
    fclose(out);
    cp_report_release(&report);
    cp_profile_free(profile);
    return text;
}

static void expect_row(const struct text *text, const char *row)
{
    if (!strstr(text->data, row)) {
        fail_msg("expected a row '%s' in\n%s", row, text->data);
    }
}

static void flat_is_the_leaf_and_cum_everything(void **state)
{
    const cp_report_options options = {0};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    add_sample(profile, "leaf middle root", 30);
    add_sample(profile, "middle root", 10);
    struct text text = rows_of(profile, &options);
    expect_row(&text, "Showing nodes accounting for 40ms, 100% of 40ms total\n");
    expect_row(&text, "      30ms 75.00% 75.00%       30ms 75.00%  leaf\n");
    expect_row(&text, "      10ms 25.00%   100%       40ms   100%  middle\n");
    expect_row(&text, "         0     0%   100%       40ms   100%  root\n");
    free(text.data);
}

static void recursion_counts_once(void **state)
{
    const cp_report_options options = {.by_cum = true};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    add_sample(profile, "f g f g f main", 8);
    add_sample(profile, "g f main", 2);
    struct text text = rows_of(profile, &options);
    expect_row(&text, "       8ms 80.00% 80.00%       10ms   100%  f\n");
    expect_row(&text, "       2ms 20.00%   100%       10ms   100%  g\n");
    free(text.data);
}

static void inlined_calls_are_marked(void **state)
{
    const cp_report_options options = {0};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    add_sample(profile, "always<outer main", 10);
    add_sample(profile, "sometimes<outer main", 10);
    add_sample(profile, "sometimes other main", 10);
    struct text text = rows_of(profile, &options);
    expect_row(&text, "  always (inline)\n");
    expect_row(&text, "  sometimes (partial-inline)\n");
    expect_row(&text, "  outer\n");
    free(text.data);
}

/*
 * A node that is too small to show: its time is not in the flat of its callers, but in their cum.
 */
static void small_nodes_are_dropped(void **state)
{
    const cp_report_options options = {0};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    add_sample(profile, "big main", 996);
    add_sample(profile, "tiny main", 4);
    struct text text = rows_of(profile, &options);
    expect_row(&text, "Showing nodes accounting for 996ms, 99.60% of 1000ms total\n");
    expect_row(&text, "Dropped 1 node (cum <= 5ms)\n");
    expect_row(&text, "         0     0% 99.60%     1000ms   100%  main\n");
    assert_null(strstr(text.data, "tiny"));
    free(text.data);
}

static void rows_are_limited(void **state)
{
    const cp_report_options options = {.node_count = 2};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    add_sample(profile, "a", 3);
    add_sample(profile, "b", 2);
    add_sample(profile, "c", 1);
    struct text text = rows_of(profile, &options);
    expect_row(&text, "Showing top 2 nodes out of 3\n");
    expect_row(&text, "  b\n");
    assert_null(strstr(text.data, "  c\n"));
    free(text.data);
}

static void equal_values_are_sorted_by_name(void **state)
{
    const cp_report_options options = {0};
    cp_profile *profile = new_model("n", "count");

    (void)state;
    add_sample(profile, "zebra", 5);
    add_sample(profile, "ant", 5);
    add_sample(profile, "bee", -5);
    struct text text = rows_of(profile, &options);
    assert_true(strstr(text.data, "  ant\n") < strstr(text.data, "  bee\n"));
    assert_true(strstr(text.data, "  bee\n") < strstr(text.data, "  zebra\n"));
    expect_row(&text, "        -5 33.33%     0%         -5 33.33%  bee\n");
    free(text.data);
}

static void places_without_names_are_programs(void **state)
{
    const cp_report_options options = {0};
    cp_profile *profile = new_model("cpu", "ms");
    uint32_t location = add_location(profile, "");

    (void)state;
    profile->mapping_count = 1;
    profile->mappings[0].file = cp_strings_put(&profile->strings, "/usr/lib/libm.so.6");
    profile->locations[location].mapping = 0;
    add_sample(profile, "known", 1);
    add_sample(profile, "", 1);
    profile->samples[1].locations[0] = location;
    profile->samples[1].location_count = 1;
    struct text text = rows_of(profile, &options);
    expect_row(&text, "  [libm.so.6]\n");
    free(text.data);
}

static void unknown_sample_types_are_named(void **state)
{
    const cp_report_options options = {.sample = "heap"};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    cp_report report;
    cp_error error;
    assert_int_equal(cp_report_init(&report, profile, &options, &error), -1);
    assert_string_equal(error.text, "expected a sample type of this profile (cpu), found heap");
    cp_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_is_the_leaf_and_cum_everything),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(inlined_calls_are_marked),
        cmocka_unit_test(small_nodes_are_dropped),
        cmocka_unit_test(rows_are_limited),
        cmocka_unit_test(equal_values_are_sorted_by_name),
        cmocka_unit_test(places_without_names_are_programs),
        cmocka_unit_test(unknown_sample_types_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
