/* SPDX-License-Identifier: MIT
 *
 * test_quoted.c: texts in quotes, as Go 1.19's fmt.Sprintf("%q") writes the same ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/quoted.h"
#include "encode/text_stream.h"
#include "memory_writer.h"

static memory_writer sink;

static const char *quoted(const char *text)
{
    pp_text_stream out;
    memory_writer_reset(&sink);
    pp_text_stream_init(&out, memory_writer_of(&sink));
    pp_text_stream_quoted(&out, text);
    assert_int_equal(pp_text_stream_finish(&out), 0);
    sink.data[sink.size] = '\0';
    return (const char *)sink.data;
}

static void plain_text_stays(void **state)
{
    (void)state;
    assert_string_equal(quoted(""), "\"\"");
    assert_string_equal(quoted("a b/c=~'`{}"), "\"a b/c=~'`{}\"");
}

static void quotes_and_backslashes_are_escaped(void **state)
{
    (void)state;
    assert_string_equal(quoted("say \"C:\\x\""), "\"say \\\"C:\\\\x\\\"\"");
}

static void control_characters_are_escaped(void **state)
{
    (void)state;
    assert_string_equal(quoted("\a\b\t\n\v\f\r"), "\"\\a\\b\\t\\n\\v\\f\\r\"");
    assert_string_equal(quoted("\x01\x1b[0m\x7f"), "\"\\x01\\x1b[0m\\x7f\"");
}

static void what_prints_stays(void **state)
{
    (void)state;
    /* a umlaut, euro, a character of four bytes, and U+FFFD as it was typed */
    static const char text[] = "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd";
    char expected[64] = "\"";
    strcat(strcat(expected, text), "\"");
    assert_string_equal(quoted(text), expected);
}

static void what_does_not_print_is_numbered(void **state)
{
    (void)state;
    assert_string_equal(quoted("\xc2\x80\xc2\xa0\xc2\xad"), "\"\\u0080\\u00a0\\u00ad\"");
    assert_string_equal(quoted("\xe2\x80\x8b\xe2\x80\xa8\xef\xbb\xbf"),
                        "\"\\u200b\\u2028\\ufeff\"");
    assert_string_equal(quoted("\xee\x80\x80\xf3\xa0\x80\x81"), "\"\\ue000\\U000e0001\"");
}

static void bytes_that_are_no_character_are_shown_singly(void **state)
{
    (void)state;
    assert_string_equal(quoted("a\xff\x80z"), "\"a\\xff\\x80z\"");
    assert_string_equal(quoted("\xe2\x82"), "\"\\xe2\\x82\"");          /* cut off */
    assert_string_equal(quoted("\xed\xa0\x80"), "\"\\xed\\xa0\\x80\""); /* a surrogate */
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

/* Against the comparison of what is written. */
static void texts_compare_as_they_are_written(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    "a",        "a ",       "a!",    "a#",
                                        "a\"", "a\\",      "ab",       "a\x01", "a\xff",
                                        "b",   "\xc3\xa4", "\xc2\xa0", "\xc3z", "\xe2\x82"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    for (size_t i = 0; i < TEXTS; i++) {
        for (size_t k = 0; k < TEXTS; k++) {
            char first[64] = "";
            strcpy(first, quoted(texts[i]));
            int expected = strcmp(first, quoted(texts[k]));
            assert_int_equal(sign(pp_quoted_compare(texts[i], texts[k])), sign(expected));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays),
        cmocka_unit_test(quotes_and_backslashes_are_escaped),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(what_prints_stays),
        cmocka_unit_test(what_does_not_print_is_numbered),
        cmocka_unit_test(bytes_that_are_no_character_are_shown_singly),
        cmocka_unit_test(texts_compare_as_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
