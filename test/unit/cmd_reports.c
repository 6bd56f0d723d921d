/* SPDX-License-Identifier: MIT
 *
 * cmd_reports.c: tree, traces, tags and raw; granularities; the filters that the Go tool's text
 * does not show.
 */
#include "cmd_builder.h"

#include "base/duration.h"
#include "base/regex.h"
#include "report/report.h"
#include "report/report_text.h"

#include <stdio.h>
#include <stdlib.h>

typedef void printer(const cp_report *report, FILE *out);

static void print_tree(const cp_report *report, FILE *out)
{
    cp_error error;

    assert_int_equal(cp_report_print_tree(report, NULL, out, &error), 0);
}

static void print_rows(const cp_report *report, FILE *out)
{
    cp_report_print_rows(report, out);
}

/* Returns the text of a report on the profile, and frees the profile. */
static char *text_of(cp_profile *profile, const cp_report_options *options, printer *print)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    cp_report report;
    cp_error error;
    if (cp_report_init(&report, profile, options, &error) < 0) {
        fail_msg("%s", error.text);
    }
    cp_report_build_graph(&report, true);
    print(&report, out);
    fclose(out);
    cp_report_release(&report);
    cp_profile_free(profile);
    return text;
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("expected '%s' in\n%s", part, text);
    }
}

static void put_label(cp_profile *profile, uint32_t sample, const char *key, const char *text,
                      int64_t number)
{
    cp_sample *to = &profile->samples[sample];

    if (!to->labels) {
        to->labels = CP_POOL_ARRAY(&profile->pool, cp_label, 8);
    }
    to->labels[to->label_count++] = (cp_label){.key = cp_strings_put(&profile->strings, key),
                                               .text = cp_strings_put(&profile->strings, text),
                                               .number = number,
                                               .numeric = number != 0};
    cp_profile_sort_labels(profile, to->labels, to->label_count);
}

static cp_profile *labelled(void)
{
    cp_profile *profile = new_model("cpu", "ms");

    add_sample(profile, "work main", 30);
    put_label(profile, 0, "phase", "burn", 0);
    put_label(profile, 0, "size", "bytes", 2048);
    add_sample(profile, "rest main", 10);
    put_label(profile, 1, "phase", "cool", 0);
    put_label(profile, 1, "size", "bytes", 512);
    return profile;
}

static void callers_are_above_and_callees_below(void **state)
{
    const cp_report_options options = {0};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    add_sample(profile, "leaf middle root", 30);
    add_sample(profile, "inner<leaf other root", 10);
    char *text = text_of(profile, &options, print_tree);
    expect(text, "                                              30ms 75.00% |   middle\n"
                 "                                              10ms 25.00% |   other\n"
                 "      30ms 75.00% 75.00%       40ms   100%                | leaf\n"
                 "                                              10ms 25.00% |   inner (inline)\n");
    free(text);
}

static void a_cut_frame_leaves_its_callers_their_sums(void **state)
{
    const cp_report_options options = {.node_count = 2, .by_cum = true};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    add_sample(profile, "leaf between root", 30);
    add_sample(profile, "other root", 10);
    char *text = text_of(profile, &options, print_tree);
    expect(text, "         0     0%     0%       40ms   100%                | root\n"
                 "                                              30ms 75.00% |   between\n");
    expect(text, "Showing top 2 nodes out of 4\n");
    free(text);
}

static void peek_needs_a_match(void **state)
{
    const cp_report_options options = {.untrimmed = true};
    cp_profile *profile = new_model("cpu", "ms");
    cp_report report;
    cp_error error;

    (void)state;
    add_sample(profile, "leaf", 1);
    assert_int_equal(cp_report_init(&report, profile, &options, &error), 0);
    cp_report_build_graph(&report, true);
    cp_regex *regex = cp_regex_compile("nothing", &error);
    assert_int_equal(cp_report_print_tree(&report, regex, stderr, &error), -1);
    assert_string_equal(error.text, "expected a function that the expression matches, found none");
    cp_regex_free(regex);
    cp_report_release(&report);
    cp_profile_free(profile);
}

/* Returns what `peek RE` prints, of a graph with all its edges or with those around RE. */
static char *peeked(bool around)
{
    const cp_report_options options = {.untrimmed = true};
    cp_profile *profile = new_model("cpu", "ms");
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    add_sample(profile, "leaf middle root", 10);
    add_sample(profile, "other middle root", 20);
    add_sample(profile, "leaf root", 40);
    cp_error error;
    cp_regex *regex = cp_regex_compile("leaf", &error);
    cp_report report;
    assert_int_equal(cp_report_init(&report, profile, &options, &error), 0);
    if (around) {
        cp_report_build_graph_around(&report, regex);
        assert_int_equal(report.graph.edge_count, 2);
    } else {
        cp_report_build_graph(&report, true);
        assert_int_equal(report.graph.edge_count, 4);
    }
    assert_int_equal(cp_report_print_tree(&report, regex, out, &error), 0);
    fclose(out);
    cp_regex_free(regex);
    cp_report_release(&report);
    cp_profile_free(profile);
    return text;
}

static void peek_needs_only_the_edges_around(void **state)
{
    char *all = peeked(false), *around = peeked(true);

    (void)state;
    expect(all, "                                              40ms 80.00% |   root\n"
                "                                              10ms 20.00% |   middle\n");
    assert_string_equal(all, around);
    free(all);
    free(around);
}

static void traces_have_labels_and_stacks(void **state)
{
    const cp_report_options options = {0};

    (void)state;
    char *text = text_of(labelled(), &options, cp_report_print_traces);
    expect(text, "-----------+-------------------------------------------------------\n"
                 "     phase:  burn\n"
                 "      size:  2kB\n"
                 "      30ms   work\n"
                 "             main\n"
                 "-----------+-------------------------------------------------------\n");
    free(text);
}

static void tags_are_sums_by_value(void **state)
{
    static const char *const expected[] = {
        [CP_STYLE_GO_1_19] = " phase: Total 40.0ms\n"
                             "        30.0ms (75.00%): burn\n"
                             "        10.0ms (25.00%): cool\n\n"
                             " size: Total 40.0ms\n"
                             "       30.0ms (75.00%): 2kB\n"
                             "       10.0ms (25.00%): 512B\n\n",
        [CP_STYLE_GO_1_26] = " phase: Total 40ms of 40ms (  100%)\n"
                             "        30ms (75.00%): burn\n"
                             "        10ms (25.00%): cool\n\n"
                             " size: Total 40ms of 40ms (  100%)\n"
                             "       30ms (75.00%): 2kB\n"
                             "       10ms (25.00%): 512B\n\n",
    };

    (void)state;
    for (cp_style style = CP_STYLE_GO_1_26; style <= CP_STYLE_GO_1_19; style++) {
        const cp_report_options options = {.style = style};
        cp_report report;
        cp_error error;
        cp_profile *profile = labelled();
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);

        assert_int_equal(cp_report_init(&report, profile, &options, &error), 0);
        cp_report_print_tags(&report, out);
        fclose(out);
        assert_string_equal(text, expected[style]);
        free(text);
        cp_report_release(&report);
        cp_profile_free(profile);
    }
}

static void raw_has_everything(void **state)
{
    const cp_report_options options = {0};
    cp_profile *profile = labelled();

    (void)state;
    profile->duration_nanos = 1234567890;
    profile->period = 7;
    profile->mapping_count = 1;
    profile->mappings[0] = (cp_mapping){.id = 1,
                                        .start = 0x1000,
                                        .limit = 0x2000,
                                        .file = cp_strings_put(&profile->strings, "/bin/app"),
                                        .has_functions = true};
    for (uint32_t i = 0; i < profile->location_count; i++) {
        profile->locations[i].id = i + 1;
        profile->locations[i].address = 0x1000 + i;
        profile->locations[i].mapping = 0;
    }
    char *text = text_of(profile, &options, cp_report_print_raw);
    expect(text, "Period: 7\nDuration: 1.23\nSamples:\ncpu/ms\n"
                 "         30: 1 2 \n"
                 "                phase:[burn]\n"
                 "                size:[2048 bytes]\n");
    expect(text, "Locations\n     1: 0x1000 M=1 work :0:0 s=0\n");
    expect(text, "Mappings\n1: 0x1000/0x2000/0x0 /bin/app  [FN]\n");
    free(text);
}

static void rows_are_what_the_granularity_keeps(void **state)
{
    static const struct {
        cp_granularity granularity;
        const char *row;
    } cases[] = {
        {CP_FUNCTIONS, "  work\n"},
        {CP_FILEFUNCTIONS, "  work src/work.c\n"},
        {CP_FILES, "  src/work.c\n"},
        {CP_LINES, "  work src/work.c:12\n"},
        {CP_ADDRESSES, "  0000000000001234 work src/work.c:12:3\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cp_report_options options = {.granularity = cases[i].granularity,
                                           .style = CP_STYLE_GO_1_26};
        cp_profile *profile = new_model("cpu", "ms");

        add_sample(profile, "work", 1);
        profile->functions[0].filename = cp_strings_put(&profile->strings, "src//./work.c");
        profile->locations[0].address = 0x1234;
        profile->locations[0].lines[0].line = 12;
        profile->locations[0].lines[0].column = 3;
        char *text = text_of(profile, &options, print_rows);
        expect(text, cases[i].row);
        free(text);
    }
}

static void values_have_the_unit_that_was_asked_for(void **state)
{
    const cp_report_options options = {.unit = "us"};
    cp_profile *profile = new_model("cpu", "ms");

    (void)state;
    add_sample(profile, "work", 2);
    char *text = text_of(profile, &options, print_rows);
    expect(text, "    2000us   100%   100%     2000us   100%  work\n");
    free(text);
}

/* ---- labels ---- */

static uint32_t left_by(const char *filter, bool ignore)
{
    cp_profile *profile = labelled();
    cp_label_units units;
    cp_error error;
    cp_label_filter *compiled = cp_label_filter_compile(filter, &error);

    assert_non_null(compiled);
    cp_label_units_init(&units, profile);
    cp_profile_filter_labels(profile, &units, ignore ? NULL : compiled, ignore ? compiled : NULL);
    uint32_t left = profile->sample_count;
    cp_label_units_release(&units);
    cp_label_filter_free(compiled);
    cp_profile_free(profile);
    return left;
}

/* An unknown unit counts as the other one. */
static void labels_choose_samples(void **state)
{
    static const struct {
        const char *filter;
        uint32_t left;
    } cases[] = {
        {"burn", 1},        {"phase", 2},      {"phase:b", 1},   {"burn,phase", 1},
        {"burn,cool", 0},   {"phase=burn", 1}, {"phase=b,c", 2}, {"size=burn", 0},
        {"2kb", 1},         {"2048b", 1},      {"512:", 0},      {"512b:", 2},
        {":1kb", 1},        {"1kb:4kb", 1},    {"size=:1kb", 1}, {"phase=:1kb", 0},
        {"1kb:4parsec", 1}, {"=burn", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (left_by(cases[i].filter, false) != cases[i].left) {
            fail_msg("%s: expected %u samples, found %u", cases[i].filter, cases[i].left,
                     left_by(cases[i].filter, false));
        }
        assert_int_equal(left_by(cases[i].filter, true), 2 - cases[i].left);
    }
}

static void broken_expressions_of_labels_are_refused(void **state)
{
    cp_error error;

    (void)state;
    assert_null(cp_label_filter_compile("fine,(", &error));
    assert_non_null(strstr(error.text, "missing closing parenthesis"));
}

/* ---- names ---- */

static void expect_filtered(cp_name_filter filter, const char *pattern, const char *stack,
                            const char *expected)
{
    cp_profile *profile = new_model("cpu", "ms");
    cp_regex *filters[CP_NAME_FILTERS] = {0};
    bool matched[CP_NAME_FILTERS];
    cp_error error;

    add_sample(profile, stack, 1);
    filters[filter] = cp_regex_compile(pattern, &error);
    cp_profile_filter_names(profile, filters, true, matched);
    assert_string_equal(profile->sample_count ? stack_of(profile, 0) : "", expected);
    assert_int_equal(matched[filter], strstr(stack, pattern) != NULL);
    cp_regex_free(filters[filter]);
    cp_profile_free(profile);
}

static void frames_are_hidden_and_shown(void **state)
{
    (void)state;
    expect_filtered(CP_HIDE, "work", "leaf work main", "leaf main");
    expect_filtered(CP_HIDE, "work", "work<leaf main", "leaf main");
    expect_filtered(CP_HIDE, "none", "leaf work main", "leaf work main");
    expect_filtered(CP_SHOW, "work", "leaf work main", "work");
    expect_filtered(CP_SHOW, "none", "leaf work main", "");
    expect_filtered(CP_SHOW_FROM, "work", "leaf work main", "leaf work");
    expect_filtered(CP_SHOW_FROM, "work", "a<work<b main", "a<work");
    expect_filtered(CP_SHOW_FROM, "none", "leaf work main", "");
}

/* ---- texts ---- */

static void paths_are_cleaned(void **state)
{
    static const char *const cases[][2] = {
        {"a//b/../c", "a/c"},    {"/a/./b/", "/a/b"},
        {"../../x", "../../x"},  {"/..", "/"},
        {"a/..", "."},           {"/proc/self/cwd/./src/x.c", "src/x.c"},
        {"/proc/self/cwd/", ""}, {"plain.c", "plain.c"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *clean = cp_clean_path(cases[i][0]);
        assert_string_equal(clean, cases[i][1]);
        free(clean);
    }
}

static void durations_are_as_in_go(void **state)
{
    static const struct {
        int64_t nanos;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {1, "1ns"},
        {1100, "1.1\u00b5s"},
        {2200000, "2.2ms"},
        {3300000000, "3.3s"},
        {245000000000, "4m5s"},
        {245001000000, "4m5.001s"},
        {18367001000000, "5h6m7.001s"},
        {-8000000000, "-8s"},
        {INT64_MIN, "-2562047h47m16.854775808s"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[CP_DURATION_BYTES];
        cp_duration_text(cases[i].nanos, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void durations_are_read(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {
        {"1", 1},   {"0.25", 0.25}, {"1s", 1},     {"500ms", 0.5},
        {"1m", 60}, {"1.5h", 5400}, {"1m30s", 90}, {"1h1m1s500ms", 3661.5},
    };
    static const char *const wrong[] = {"",    "s",     "x",   "1x",    "1 s",  "-1s", "0x10",
                                        "inf", "1.2.3", "1s5", "1s 5s", "1sec", "1S",  "1,5s"};
    double seconds;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(cp_duration_read(cases[i].text, &seconds));
        assert_true(seconds > cases[i].seconds - 1e-9 && seconds < cases[i].seconds + 1e-9);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(cp_duration_read(wrong[i], &seconds));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_are_above_and_callees_below),
        cmocka_unit_test(a_cut_frame_leaves_its_callers_their_sums),
        cmocka_unit_test(peek_needs_a_match),
        cmocka_unit_test(peek_needs_only_the_edges_around),
        cmocka_unit_test(traces_have_labels_and_stacks),
        cmocka_unit_test(tags_are_sums_by_value),
        cmocka_unit_test(raw_has_everything),
        cmocka_unit_test(rows_are_what_the_granularity_keeps),
        cmocka_unit_test(values_have_the_unit_that_was_asked_for),
        cmocka_unit_test(labels_choose_samples),
        cmocka_unit_test(broken_expressions_of_labels_are_refused),
        cmocka_unit_test(frames_are_hidden_and_shown),
        cmocka_unit_test(paths_are_cleaned),
        cmocka_unit_test(durations_are_as_in_go),
        cmocka_unit_test(durations_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
