/* SPDX-License-Identifier: MIT
 *
 * cmd_live_keys.c: the keys that bytes are, whole, in pieces, and among garbage.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "live/live_keys.h"

#include <stdint.h>
#include <string.h>

/* The last key of the bytes, which may have NULs. */
static int key_of(cp_key_reader *reader, const char *bytes, size_t length)
{
    int key = CP_KEY_NONE;

    for (size_t i = 0; i < length; i++) {
        int next = cp_key_next(reader, bytes[i]);
        key = next != CP_KEY_NONE ? next : key;
    }
    return key;
}

static void expect_key(const char *bytes, int key)
{
    cp_key_reader reader = {0};

    assert_int_equal(key_of(&reader, bytes, strlen(bytes)), key);
    assert_false(cp_key_is_pending(&reader));
}

static void a_byte_is_a_key(void **state)
{
    (void)state;
    expect_key("q", 'q');
    expect_key("\r", CP_KEY_ENTER);
    expect_key("\n", CP_KEY_ENTER);
    expect_key("\b", CP_KEY_ERASE);
    expect_key("\177", CP_KEY_ERASE);
    expect_key("\xc3", 0xc3); /* part of a character that is typed */
}

static void a_sequence_is_a_key(void **state)
{
    (void)state;
    expect_key("\033[A", CP_KEY_UP);
    expect_key("\033OB", CP_KEY_DOWN);
    expect_key("\033[C", CP_KEY_RIGHT);
    expect_key("\033OD", CP_KEY_LEFT);
    expect_key("\033[5~", CP_KEY_PAGE_UP);
    expect_key("\033[6~", CP_KEY_PAGE_DOWN);
    expect_key("\033[1~", CP_KEY_HOME);
    expect_key("\033[F", CP_KEY_END);
}

static void a_sequence_that_is_not_known_is_no_key(void **state)
{
    (void)state;
    expect_key("\033[15~", CP_KEY_NONE);
    expect_key("\033[1;5A", CP_KEY_NONE);
    expect_key("\033[<0;33;12M", CP_KEY_NONE); /* a mouse */
    expect_key("\033[200~", CP_KEY_NONE);
    expect_key("\033x", CP_KEY_NONE); /* with Alt */
    expect_key("\033[1111111111111111111111111111A", CP_KEY_NONE);
}

static void escape_is_what_nothing_follows(void **state)
{
    cp_key_reader reader = {0};

    (void)state;
    assert_int_equal(cp_key_next(&reader, '\033'), CP_KEY_NONE);
    assert_true(cp_key_is_pending(&reader));
    assert_int_equal(cp_key_give_up(&reader), CP_KEY_ESCAPE);
    assert_false(cp_key_is_pending(&reader));
    cp_key_next(&reader, '\033');
    cp_key_next(&reader, '[');
    assert_int_equal(cp_key_give_up(&reader), CP_KEY_NONE);
    assert_int_equal(cp_key_next(&reader, 'q'), 'q');
}

static void a_second_escape_begins_again(void **state)
{
    (void)state;
    expect_key("\033\033[A", CP_KEY_UP);
    expect_key("\033[1;\033[B", CP_KEY_DOWN);
}

static void garbage_does_not_hold_the_reader_up(void **state)
{
    cp_key_reader reader = {0};
    char garbage[4096];

    (void)state;
    for (uint32_t i = 0, bits = 1; i < sizeof garbage; i++) {
        bits = bits * 1664525 + 1013904223;
        garbage[i] = (char)(bits >> 24);
    }
    key_of(&reader, garbage, sizeof garbage);
    cp_key_give_up(&reader);
    assert_int_equal(cp_key_next(&reader, 'q'), 'q');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_is_a_key),
        cmocka_unit_test(a_sequence_is_a_key),
        cmocka_unit_test(a_sequence_that_is_not_known_is_no_key),
        cmocka_unit_test(escape_is_what_nothing_follows),
        cmocka_unit_test(a_second_escape_begins_again),
        cmocka_unit_test(garbage_does_not_hold_the_reader_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
