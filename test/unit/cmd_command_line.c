/* SPDX-License-Identifier: MIT
 *
 * cmd_command_line.c: options, operands, and refusals.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/message.h"
#include "verbs/command_line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct result {
    bool flag;
    const char *text, *word;
    long count;
    cp_operands operands;
    int status;
};

/* Splits the line at blanks and parses it. */
static int parse(struct result *result, bool stop_at_operand, const char *line)
{
    static char copy[256];
    static char *arguments[32];
    int count = 1;
    const cp_option options[] = {
        {'f', "flag", NULL, CP_OPTION_FLAG, &result->flag, 0, 0},
        {'t', "text", "alias", CP_OPTION_TEXT, &result->text, 0, 0},
        {'n', "count", NULL, CP_OPTION_COUNT, &result->count, 1, 100},
        {'w', "word", NULL, CP_OPTION_TEXT, &result->word, .words = "red green blue"},
        {0},
    };

    memset(result, 0, sizeof *result);
    snprintf(copy, sizeof copy, "%s", line);
    arguments[0] = "verb";
    for (char *rest, *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        arguments[count++] = word;
    }
    arguments[count] = NULL;
    return cp_options_parse("top", options, stop_at_operand, count, arguments, &result->operands,
                            &result->status);
}

static void expect_good(struct result *result, bool stop_at_operand, const char *line)
{
    if (parse(result, stop_at_operand, line) < 0) {
        fail_msg("%s", line);
    }
}

static void options_are_written_in_many_ways(void **state)
{
    static const char *const lines[] = {
        "--flag --text=x --count=7 file",
        "-flag -text x -count 7 file",
        "-f -tx -n7 file",
        "-f -t x -n 7 file",
        "file --alias x -n7 --flag",
        "-f -alias=x -n7 file",
    };

    (void)state;
    struct result result;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        expect_good(&result, false, lines[i]);
        assert_true(result.flag);
        assert_string_equal(result.text, "x");
        assert_int_equal(result.count, 7);
        assert_int_equal(result.operands.count, 1);
        assert_string_equal(result.operands.values[0], "file");
    }
}

static void a_word_is_one_of_the_list(void **state)
{
    (void)state;
    struct result result;
    expect_good(&result, false, "--word green file");
    assert_string_equal(result.word, "green");
    expect_good(&result, false, "-wblue");
    assert_string_equal(result.word, "blue");
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    struct result result;
    expect_good(&result, false, "a -- --flag -n");
    assert_false(result.flag);
    assert_int_equal(result.operands.count, 3);
    assert_string_equal(result.operands.values[2], "-n");
    assert_null(result.operands.values[3]);
}

static void a_commands_own_options_are_left_alone(void **state)
{
    (void)state;
    struct result result;
    expect_good(&result, true, "-n 5 command --flag -n 7 -- x");
    assert_int_equal(result.count, 5);
    assert_false(result.flag);
    assert_int_equal(result.operands.count, 6);
    assert_string_equal(result.operands.values[1], "--flag");
    assert_string_equal(result.operands.values[4], "--");
    expect_good(&result, true, "-f -- -command");
    assert_string_equal(result.operands.values[0], "-command");
}

static void one_dash_is_an_operand(void **state)
{
    (void)state;
    struct result result;
    expect_good(&result, false, "-");
    assert_int_equal(result.operands.count, 1);
}

static void mistakes_are_usage_errors(void **state)
{
    static const char *const lines[] = {
        "--unknown", "-x",    "--flag=1", "--text", "-n 0",      "-n 101",      "-n 5x",
        "-n",        "-n -5", "--count=", "-n 1e9", "-w yellow", "--word=gree", "--word="};
    int saved = dup(STDERR_FILENO);

    (void)state;
    if (!freopen("/dev/null", "w", stderr)) {
        fail();
    }
    struct result result;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(parse(&result, false, lines[i]), -1);
        assert_int_equal(result.status, CP_EXIT_BAD_USAGE);
    }
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_written_in_many_ways),
        cmocka_unit_test(a_word_is_one_of_the_list),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(a_commands_own_options_are_left_alone),
        cmocka_unit_test(one_dash_is_an_operand),
        cmocka_unit_test(mistakes_are_usage_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
