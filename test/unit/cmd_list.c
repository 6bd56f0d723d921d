/* SPDX-License-Identifier: MIT
 *
 * cmd_list.c: source files, and their lines with values.
 */
#include "cmd_builder.h"

#include "base/regex.h"
#include "report/report.h"
#include "report/report_text.h"
#include "report/source_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder with src/work.c, which has 9 lines "line N". */
static char folder[] = "/tmp/cmd_list.XXXXXX";

static int make_folder(void **state)
{
    char path[64];

    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/src", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/src/work.c", folder);
    FILE *file = fopen(path, "w");
    for (int i = 1; i <= 9; i++) {
        fprintf(file, "line %d%s", i, i == 2 ? "\r\n" : i < 9 ? "\n" : "");
    }
    return fclose(file);
}

static int remove_folder(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "%s/src/work.c", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/src", folder);
    rmdir(path);
    return rmdir(folder);
}

static void expect_line(const char *path, const char *search, int64_t number, const char *expected)
{
    cp_source source;
    cp_error error;
    const char *text = NULL;
    size_t length = 0;

    if (cp_source_open(&source, path, &(cp_source_search){.folders = search}, &error) < 0) {
        fail_msg("%s", error.text);
    }
    bool found = cp_source_line(&source, number, &text, &length);
    assert_int_equal(found, expected != NULL);
    if (found) {
        assert_int_equal(length, strlen(expected));
        assert_memory_equal(text, expected, length);
    }
    cp_source_close(&source);
}

static void lines_are_counted_from_one(void **state)
{
    (void)state;
    expect_line("src/work.c", folder, 1, "line 1");
    expect_line("src/work.c", folder, 2, "line 2");
    expect_line("src/work.c", folder, 9, "line 9");
    expect_line("src/work.c", folder, 10, NULL);
    expect_line("src/work.c", folder, 0, NULL);
}

static void files_are_found_in_and_above_the_folders(void **state)
{
    char deep[64], elsewhere[64];

    (void)state;
    snprintf(deep, sizeof deep, "/nonexistent:%s/src", folder);
    expect_line("src/work.c", deep, 1, "line 1");
    snprintf(elsewhere, sizeof elsewhere, "/home/build/%s/src/work.c", folder + strlen("/tmp/"));
    expect_line(elsewhere, folder, 1, "line 1");
}

static void expect_trimmed(const char *path, const char *folders, const char *trim,
                           const char *expected)
{
    const cp_source_search search = {folders, trim};

    assert_string_equal(cp_source_trim(path, &search), expected);
}

static void paths_are_trimmed(void **state)
{
    (void)state;
    expect_trimmed("/build/x/src/a.c", NULL, NULL, "/build/x/src/a.c");
    expect_trimmed("/build/x/src/a.c", NULL, "/none:/build/x", "src/a.c");
    expect_trimmed("/build/x/src/a.c", NULL, "/build/x/", "src/a.c");
    expect_trimmed("/build/xy/src/a.c", NULL, "/build/x", "/build/xy/src/a.c");
    expect_trimmed("/build/x/src/a.c", "/home/x", NULL, "src/a.c");
    expect_trimmed("/build/x/src/a.c", "/home/x", "/none", "/build/x/src/a.c");
    expect_trimmed("/proc/self/cwd/./src/a.c", NULL, NULL, "src/a.c");
    expect_trimmed("/proc/self/cwd/src/a.c", "/home/x", "/none", "src/a.c");
}

static void missing_files_are_named(void **state)
{
    const cp_source_search nonexistent = {.folders = "/nonexistent"}, other = {.folders = "/other"};
    cp_source source;
    cp_error error;

    (void)state;
    assert_int_equal(cp_source_open(&source, "none.c", &nonexistent, &error), -1);
    assert_string_equal(error.text, "could not find file none.c on path /nonexistent");
    assert_int_equal(cp_source_open(&source, "/nonexistent/none.c", &other, &error), -1);
    assert_string_equal(error.text, "open /nonexistent/none.c: no such file or directory");
}

static char *list(cp_profile *profile, const char *expression, int expected_status)
{
    const cp_report_options options = {
        .granularity = CP_SOURCES, .untrimmed = true, .sources.folders = folder};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    cp_report report;
    cp_error error;
    cp_regex *regex = cp_regex_compile(expression, &error);

    assert_int_equal(cp_report_init(&report, profile, &options, &error), 0);
    cp_report_build_graph(&report, false);
    assert_int_equal(cp_report_print_list(&report, regex, out, &error), expected_status);
    fclose(out);
    cp_regex_free(regex);
    cp_report_release(&report);
    cp_profile_free(profile);
    return text;
}

static cp_profile *with_lines(int64_t start_line)
{
    cp_profile *profile = new_model("cpu", "ms");

    add_sample(profile, "work main", 30);
    profile->functions[0].filename = cp_strings_put(&profile->strings, "src/work.c");
    profile->functions[0].start_line = start_line;
    profile->locations[0].lines[0].line = 8;
    return profile;
}

static void lines_have_values(void **state)
{
    (void)state;
    char *text = list(with_lines(7), "work", 0);
    assert_string_equal(text, "Total: 30ms\n"
                              "ROUTINE ======================== work in src/work.c\n"
                              "      30ms       30ms (flat, cum)   100% of Total\n"
                              "         .          .      7:line 7\n"
                              "      30ms       30ms      8:line 8\n"
                              "         .          .      9:line 9\n");
    free(text);
    text = list(with_lines(0), "work", 0);
    assert_non_null(strstr(text, "Total\n         .          .      3:line 3\n"));
    free(text);
}

/* The file is opened by its own name, and neither the name nor a line steers a terminal. */
static void controls_are_escaped(void **state)
{
    char path[64];
    cp_profile *profile = with_lines(1);

    (void)state;
    snprintf(path, sizeof path, "%s/src/a\x1b.c", folder);
    FILE *file = fopen(path, "w");
    fputs("1\tx\x1b[2J\n2", file);
    fclose(file);
    profile->functions[0].filename = cp_strings_put(&profile->strings, "src/a\x1b.c");
    profile->locations[0].lines[0].line = 2;
    char *text = list(profile, "work", 0);
    unlink(path);
    assert_string_equal(text, "Total: 30ms\n"
                              "ROUTINE ======================== work in src/a\\x1b.c\n"
                              "      30ms       30ms (flat, cum)   100% of Total\n"
                              "         .          .      1:1\tx\\x1b[2J\n"
                              "      30ms       30ms      2:2\n");
    free(text);
}

static void functions_without_source_are_named(void **state)
{
    (void)state;
    char *text = list(with_lines(7), "main", 0);
    assert_string_equal(text, "Total: 30ms\nNo source information for main\n");
    free(text);
    free(list(with_lines(7), "nothing", -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_counted_from_one),
        cmocka_unit_test(files_are_found_in_and_above_the_folders),
        cmocka_unit_test(paths_are_trimmed),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(lines_have_values),
        cmocka_unit_test(controls_are_escaped),
        cmocka_unit_test(functions_without_source_are_named),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
