/* SPDX-License-Identifier: MIT
 *
 * cmd_printable.c: control characters are shown escaped, in texts, in names and in messages.
 */
#include "cmd_builder.h"

#include "base/printable.h"
#include "report/report.h"

#include <stdlib.h>

static void expect_shown(const char *text, size_t length, const char *shown)
{
    char *copy = cp_printable(text, length);

    assert_string_equal(copy, shown);
    assert_int_equal(cp_has_controls(text, length), strlen(shown) != length);
    free(copy);
}

static void controls_are_escaped(void **state)
{
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): this is what is escaped */
    static const char bidirectional[] = "\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9";

    (void)state;
    expect_shown("a\0b\n\r\x1b[2J\x7f", 10, "a\\x00b\\n\\r\\x1b[2J\\x7f");
    expect_shown("\xc2\x85\xc2\x9b", 4, "\\u0085\\u009b");
    expect_shown(bidirectional, 12, "\\u2028\\u202e\\u2066\\u2069");
    expect_shown("\x9b[2J", 4, "\\x9b[2J"); /* a byte that is no character */
}

static void other_texts_stay(void **state)
{
    static const char *const texts[] = {
        "",         "main",     "a\tb", "C:\\new", "na\u00efve \u20ac \U0001f600 \u2027\u202f",
        "\xc2\xa0", "\xff\xe2",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        expect_shown(texts[i], strlen(texts[i]), texts[i]);
    }
}

static void names_are_escaped_for_texts_alone(void **state)
{
    static const char *const shown[] = {"a\\x1b", "a\x1b"};

    (void)state;
    for (int any_bytes = 0; any_bytes < 2; any_bytes++) {
        const cp_report_options options = {.any_bytes = any_bytes};
        cp_profile *profile = new_model("cpu", "ms");
        cp_report report;
        cp_error error;

        add_sample(profile, "a\x1b main", 1);
        assert_int_equal(cp_report_init(&report, profile, &options, &error), 0);
        assert_string_equal(report.frames.frames[0].label, shown[any_bytes]);
        assert_string_equal(cp_strings_raw(&profile->strings, report.frames.frames[0].key.name),
                            "a\x1b");
        cp_report_release(&report);
        cp_profile_free(profile);
    }
}

static void sentences_quote_escaped(void **state)
{
    cp_error error;

    (void)state;
    cp_fail(&error, "no lines of %s", "a\x1b[2J\ncpprof: all is well");
    assert_string_equal(error.text, "no lines of a\\x1b[2J\\ncpprof: all is well");
    cp_fail(&error, "a fault\n  of\n  two lines");
    assert_string_equal(error.text, "a fault\n  of\n  two lines");
    char name[3000];
    memset(name, '\x1b', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    cp_fail(&error, "%s", name);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controls_are_escaped),
        cmocka_unit_test(other_texts_stay),
        cmocka_unit_test(names_are_escaped_for_texts_alone),
        cmocka_unit_test(sentences_quote_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
