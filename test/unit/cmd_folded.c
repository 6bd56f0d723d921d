/* SPDX-License-Identifier: MIT
 *
 * cmd_folded.c: folded stacks become samples.
 */
#include "cmd_builder.h"

#include "import/formats.h"

#include <inttypes.h>
#include <stdlib.h>

static bool is_folded(const char *text)
{
    return cp_folded.recognize((const uint8_t *)text, strlen(text));
}

static cp_profile *read_text(const char *text)
{
    return decode_text(cp_folded.decode, text);
}

/* The samples as "VALUE: LEAF CALLER;", to be freed. */
static char *samples_of(const cp_profile *profile)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        fprintf(out, "%" PRId64 ":", sample->values[0]);
        for (uint32_t j = 0; j < sample->location_count; j++) {
            const cp_line *line = &profile->locations[sample->locations[j]].lines[0];
            fprintf(out, " %s", cp_profile_text(profile, profile->functions[line->function].name));
        }
        fputc(';', out);
    }
    fclose(out);
    return text;
}

static void expect_samples(const char *text, const char *expected)
{
    cp_profile *profile = read_text(text);
    char *samples = samples_of(profile);

    assert_string_equal(samples, expected);
    free(samples);
    cp_profile_free(profile);
}

static void the_last_frame_is_the_leaf(void **state)
{
    (void)state;
    expect_samples("main;work;malloc 17\nmain 3\n", "17: malloc work main;3: main;");
    expect_samples("\n  main;a b;c \t 1  \r\n\nx 9223372036854775807",
                   "1: c a b main;9223372036854775807: x;");
    expect_samples(";;a;;b 4\n", "4: b a;");
}

static void equal_frames_are_one_location(void **state)
{
    cp_profile *profile = read_text("a;b;a 1\nb;a 2\n");

    (void)state;
    assert_int_equal(profile->location_count, 2);
    assert_int_equal(profile->function_count, 2);
    assert_int_equal(profile->samples[0].locations[0], profile->samples[1].locations[0]);
    cp_profile_free(profile);
}

static void a_place_after_the_name_becomes_file_and_line(void **state)
{
    cp_profile *profile = read_text("<module> (app.py:3);work (lib/x y.py:12) 5\n");
    const cp_location *leaf = &profile->locations[profile->samples[0].locations[0]];
    const cp_function *work = &profile->functions[leaf->lines[0].function];

    (void)state;
    assert_string_equal(cp_profile_text(profile, work->name), "work");
    assert_string_equal(cp_profile_text(profile, work->filename), "lib/x y.py");
    assert_int_equal(leaf->lines[0].line, 12);
    cp_profile_free(profile);
}

static void what_is_no_place_stays_in_the_name(void **state)
{
    static const char *const names[] = {
        "f(int)", "f (int)",         "f (x:)",
        "f (:3)", "thread (0x7f12)", "operator()",
        "(a:1)",  "f(a:1)",          "f (a:12345678901)",
        ")",      "f (a)b:1)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[64], expected[64];
        snprintf(line, sizeof line, "%s 1", names[i]);
        snprintf(expected, sizeof expected, "1: %s;", names[i]);
        expect_samples(line, expected);
    }
}

static void other_texts_are_not_folded(void **state)
{
    static const char *const others[] = {
        "",    "\n\n",   "5",    " 5",     "hello, world",
        "a;b", "a;b x5", "a;b5", "\x01 5", "a;b 99999999999999999999",
    };

    (void)state;
    assert_true(is_folded("\n a;b 5\nrubbish"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(is_folded(others[i]));
    }
}

static void a_bad_line_is_named(void **state)
{
    static const char text[] = "a;b 5\n\n  a;c\n";
    cp_profile *profile;
    cp_error error;

    (void)state;
    assert_int_equal(cp_folded.decode((const uint8_t *)text, strlen(text), &profile, &error), -1);
    assert_string_equal(error.text, "byte 9: line 3: expected FRAME;FRAME;... COUNT, found 'a;c'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_frame_is_the_leaf),
        cmocka_unit_test(equal_frames_are_one_location),
        cmocka_unit_test(a_place_after_the_name_becomes_file_and_line),
        cmocka_unit_test(what_is_no_place_stays_in_the_name),
        cmocka_unit_test(other_texts_are_not_folded),
        cmocka_unit_test(a_bad_line_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
