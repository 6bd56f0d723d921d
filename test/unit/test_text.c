/* SPDX-License-Identifier: MIT
 *
 * test_text.c: messages in a fixed buffer: what does not fit is cut, and the end is always marked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void texts_and_numbers_are_joined(void **state)
{
    (void)state;
    pp_text text = PP_TEXT_INIT;
    assert_string_equal(text.data, "");
    pp_text_add(&text, "");
    pp_text_add(&text, "thread ");
    pp_text_add_number(&text, 0);
    pp_text_add(&text, " of ");
    pp_text_add_number(&text, 1234567890);
    assert_string_equal(text.data, "thread 0 of 1234567890");
    assert_int_equal(text.length, strlen(text.data));
}

static void the_largest_number_fits(void **state)
{
    (void)state;
    pp_text text = PP_TEXT_INIT;
    pp_text_add_number(&text, UINT64_MAX);
    assert_string_equal(text.data, "18446744073709551615");
}

static void words_have_two_forms(void **state)
{
    (void)state;
    pp_text text = PP_TEXT_INIT;
    pp_text_add_count(&text, 1, " [is|are] one; ");
    pp_text_add_count(&text, 0, " [is|are] [none|no ones]; ");
    pp_text_add_count(&text, 2, " more");
    assert_string_equal(text.data, "1 is one; 0 are no ones; 2 more");
}

static void what_does_not_fit_is_cut_off(void **state)
{
    (void)state;
    for (size_t before = PP_TEXT_CAPACITY - 5; before < PP_TEXT_CAPACITY + 5; before++) {
        struct {
            pp_text text;
            char guard;
        } guarded = {PP_TEXT_INIT, 'g'};
        for (size_t i = 0; i < before; i++)
            pp_text_add(&guarded.text, "x");
        pp_text_add(&guarded.text, "tail");
        pp_text_add_number(&guarded.text, 12345);
        assert_int_equal(guarded.text.length, PP_TEXT_CAPACITY - 1);
        assert_int_equal(strlen(guarded.text.data), PP_TEXT_CAPACITY - 1);
        assert_int_equal(guarded.guard, 'g');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_numbers_are_joined),
        cmocka_unit_test(the_largest_number_fits),
        cmocka_unit_test(words_have_two_forms),
        cmocka_unit_test(what_does_not_fit_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
