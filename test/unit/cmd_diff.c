/* SPDX-License-Identifier: MIT
 *
 * cmd_diff.c: what changed between two profiles.
 */
#include "cmd_builder.h"

#include "report/report.h"
#include "report/report_diff.h"
#include "report/report_load.h"

#include <math.h>
#include <stdlib.h>

static void add_base(cp_profile *profile, const char *stack, int64_t value)
{
    add_sample(profile, stack, -value);
    cp_sample *sample = &profile->samples[profile->sample_count - 1];
    sample->labels = CP_POOL_ARRAY(&profile->pool, cp_label, 1);
    sample->label_count = 1;
    sample->labels[0] = (cp_label){.key = cp_strings_put(&profile->strings, CP_BASE_LABEL),
                                   .text = cp_strings_put(&profile->strings, "true")};
}

static cp_profile *changed(void)
{
    cp_profile *profile = new_model("cpu", "ms");

    add_base(profile, "work main", 100);
    add_base(profile, "same main", 50);
    add_base(profile, "gone main", 50);
    add_sample(profile, "work main", 130);
    add_sample(profile, "same main", 50);
    add_sample(profile, "new main", 10);
    return profile;
}

/* Returns the table, and stores the growth. Frees the profile. */
static char *table_of(cp_profile *profile, const cp_report_options *options, double *growth)
{
    cp_differences differences;
    cp_report report;
    cp_error error;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_int_equal(cp_report_init(&report, profile, options, &error), 0);
    cp_differences_init(&differences, &report);
    cp_differences_print(&differences, out);
    *growth = cp_differences_growth(&differences, true);
    cp_differences_release(&differences);
    cp_report_release(&report);
    cp_profile_free(profile);
    fclose(out);
    return text;
}

static void the_largest_change_is_first(void **state)
{
    const cp_report_options options = {0};
    double growth;

    (void)state;
    char *text = table_of(changed(), &options, &growth);
    assert_string_equal(text, "Type: cpu (flat)\n"
                              "        base         now      change   of base\n"
                              "       200ms       190ms       -10ms    -5.00%  total\n"
                              "        50ms           0       -50ms   -25.00%  gone\n"
                              "       100ms       130ms       +30ms   +15.00%  work\n"
                              "           0        10ms       +10ms    +5.00%  new\n");
    assert_true(fabs(growth - 15) < 1e-9);
    free(text);
}

static void callers_change_with_their_callees(void **state)
{
    const cp_report_options options = {.by_cum = true, .node_count = 3};
    double growth;

    (void)state;
    char *text = table_of(changed(), &options, &growth);
    assert_non_null(strstr(text, "Showing 3 of 4 functions that changed\n"));
    assert_non_null(strstr(text, "       200ms       190ms       -10ms    -5.00%  main\n"));
    free(text);
}

static void growth_from_nothing_is_infinite(void **state)
{
    const cp_report_options options = {0};
    cp_profile *profile = new_model("cpu", "ms");
    double growth;

    (void)state;
    add_sample(profile, "work", 1);
    free(table_of(profile, &options, &growth));
    assert_true(isinf(growth));
    profile = new_model("cpu", "ms");
    add_base(profile, "work", 5);
    add_sample(profile, "work", 4);
    free(table_of(profile, &options, &growth));
    assert_true(growth == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_change_is_first),
        cmocka_unit_test(callers_change_with_their_callees),
        cmocka_unit_test(growth_from_nothing_is_infinite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
