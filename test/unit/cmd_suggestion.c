/* SPDX-License-Identifier: MIT
 *
 * cmd_suggestion.c: the word that the user meant, and silence where none is near.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/suggestion.h"

#include <string.h>

static const char *const verbs[] = {"record", "top",  "flame", "web",   "list",
                                    "peek",   "tree", "tags",  "merge", "traces"};

static const char *suggest(const char *typed, char buffer[CP_SUGGESTION_BYTES])
{
    cp_suggestion suggestion;

    cp_suggestion_init(&suggestion, typed, strlen(typed));
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        cp_suggestion_offer(&suggestion, verbs[i]);
    }
    cp_suggestion_offer(&suggestion, NULL);
    return cp_suggestion_text(&suggestion, "--", buffer);
}

static void a_near_word_is_found(void **state)
{
    static const char *const pairs[][2] = {
        {"recrod", "record"}, {"recor", "record"}, {"reccord", "record"}, {"racord", "record"},
        {"toop", "top"},      {"tp", "top"},       {"Top", "top"},        {"falme", "flame"},
        {"tag", "tags"},      {"trac", "traces"},  {"rec", "record"},     {"treee", "tree"},
    };
    char buffer[CP_SUGGESTION_BYTES], expected[CP_SUGGESTION_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        strcpy(expected, "; did you mean --");
        strcat(strcat(expected, pairs[i][1]), "?");
        assert_string_equal(suggest(pairs[i][0], buffer), expected);
    }
}

static void there_is_silence_where_no_word_is_near(void **state)
{
    static const char *const words[] = {
        "",         "x",      "r",
        "bogus",    "memory", "xyzzy",
        "annotate", "dance",  "a-word-that-is-much-longer-than-any-verb-or-option-of-the-command"};
    char buffer[CP_SUGGESTION_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_string_equal(suggest(words[i], buffer), "");
    }
}

static void only_the_typed_length_counts(void **state)
{
    cp_suggestion suggestion;
    char buffer[CP_SUGGESTION_BYTES];

    (void)state;
    cp_suggestion_init(&suggestion, "demangel=full", strlen("demangel"));
    cp_suggestion_offer(&suggestion, "demangle");
    assert_string_equal(cp_suggestion_text(&suggestion, "", buffer), "; did you mean demangle?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_near_word_is_found),
        cmocka_unit_test(there_is_silence_where_no_word_is_near),
        cmocka_unit_test(only_the_typed_length_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
