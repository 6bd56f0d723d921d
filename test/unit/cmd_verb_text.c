/* SPDX-License-Identifier: MIT
 *
 * cmd_verb_text.c: the parts of a verb's text, and the forms of an option.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "verbs/verb_text.h"

#include <string.h>

static void expect_part(cp_text_part part, const char *expected)
{
    assert_int_equal(part.length, strlen(expected));
    assert_memory_equal(part.text, expected, part.length);
}

static void a_text_has_four_parts(void **state)
{
    cp_verb_text text = cp_verb_text_split(
        "usage: cpprof x\n       [OPTIONS]\n\nDoes it.\n\nWell.\n\nExample: cpprof x y\n\nNote.\n");

    (void)state;
    expect_part(text.usage, "usage: cpprof x\n       [OPTIONS]");
    expect_part(text.about, "Does it.\n\nWell.");
    expect_part(text.example, "Example: cpprof x y");
    expect_part(text.notes, "Note.");
}

static void parts_may_be_missing(void **state)
{
    cp_verb_text text = cp_verb_text_split("usage: cpprof x\n\nDoes it.\n");

    (void)state;
    expect_part(text.about, "Does it.");
    expect_part(text.example, "");
    expect_part(text.notes, "");
    text = cp_verb_text_split("usage: cpprof x\n");
    expect_part(text.usage, "usage: cpprof x");
    expect_part(text.about, "");
}

static void an_option_has_its_forms(void **state)
{
    char buffer[CP_OPTION_FORMS_BYTES];
    const cp_option rows = {'n', "rows", .argument = "N"}, json = {0, "json"};

    (void)state;
    assert_string_equal(cp_option_forms(&rows, buffer), "-n, --rows N");
    assert_string_equal(cp_option_forms(&json, buffer), "--json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_has_four_parts),
        cmocka_unit_test(parts_may_be_missing),
        cmocka_unit_test(an_option_has_its_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
