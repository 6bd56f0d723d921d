/* SPDX-License-Identifier: MIT
 *
 * test_http_query.c: parameters, numbers and addresses as Go's net/url and strconv read them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "web/http_query.h"

#include <stdio.h>

static void assert_value(const char *query, const char *key, const char *expected)
{
    char value[PP_HTTP_VALUE_MAX];
    bool found = pp_http_query_get(query, key, value);
    assert_string_equal(value, expected != NULL ? expected : "");
    assert_int_equal(found, expected != NULL);
}

static void the_first_value_counts(void **state)
{
    (void)state;
    assert_value("seconds=1&debug=2&seconds=3", "seconds", "1");
    assert_value("seconds=1&debug=2&seconds=3", "debug", "2");
    assert_value("a&b=", "a", "");
    assert_value("a&b=", "b", "");
    assert_value("=x", "", "x");
    assert_value("a=b=c", "a", "b=c");
}

static void an_absent_key_has_no_value(void **state)
{
    (void)state;
    assert_value("", "debug", NULL);
    assert_value("&&", "debug", NULL);
    assert_value("debugs=1&xdebug=2&DEBUG=3", "debug", NULL);
}

static void escapes_are_decoded_in_keys_and_values(void **state)
{
    (void)state;
    assert_value("%64ebug=%31", "debug", "1");
    assert_value("name=a+b%2Bc%2f", "name", "a b+c/");
}

static void broken_pairs_are_skipped(void **state)
{
    (void)state;
    assert_value("a=%&a=2", "a", "2");
    assert_value("a=%4&a=2", "a", "2");
    assert_value("a=%zz&a=2", "a", "2");
    assert_value("a=%00&a=2", "a", "2");
    assert_value("a=1;b=2&a=3", "a", "3");
    assert_value("%=1&a=2", "a", "2");
}

static void a_long_value_is_cut(void **state)
{
    (void)state;
    char query[2 * PP_HTTP_VALUE_MAX] = "a=";
    char expected[PP_HTTP_VALUE_MAX] = "";
    memset(query + 2, 'x', sizeof query - 3);
    memset(expected, 'x', sizeof expected - 1);
    assert_value(query, "a", expected);
}

static void a_path_keeps_its_plus(void **state)
{
    char out[8];
    (void)state;
    assert_true(pp_http_decode("a+%62", 5, false, out, sizeof out));
    assert_string_equal(out, "a+b");
    assert_true(pp_http_decode("1234567", 7, false, out, sizeof out));
    assert_false(pp_http_decode("12345678", 8, false, out, sizeof out));
    assert_string_equal(out, "");
    assert_false(pp_http_decode("a%2", 3, false, out, sizeof out));
}

static void assert_number(const char *text, bool good, int64_t expected)
{
    int64_t number = 77;
    assert_int_equal(pp_http_number(text, &number), good);
    assert_true(number == expected);
}

static void numbers_are_decimal_with_a_sign(void **state)
{
    (void)state;
    assert_number("30", true, 30);
    assert_number("+30", true, 30);
    assert_number("-30", true, -30);
    assert_number("007", true, 7);
    assert_number("9223372036854775807", true, INT64_MAX);
    assert_number("-9223372036854775808", true, INT64_MIN);
    assert_number("9223372036854775808", false, INT64_MAX);
    assert_number("-99999999999999999999", false, INT64_MIN);
    assert_number("", false, 0);
    assert_number("-", false, 0);
    assert_number("1s", false, 0);
    assert_number(" 1", false, 0);
    assert_number("1_000", false, 0);
    assert_number("0x10", false, 0);
}

static void assert_pc(const char *text, bool good, uint64_t expected)
{
    uint64_t pc = 77;
    assert_int_equal(pp_http_parse_pc(text, strlen(text), &pc), good);
    assert_true(pc == expected);
}

static void addresses_have_the_bases_of_go(void **state)
{
    (void)state;
    assert_pc("0x1f", true, 0x1f);
    assert_pc("0XFFFFFFFFFFFFFFFF", true, UINT64_MAX);
    assert_pc("0x10000000000000000", false, 0);
    assert_pc("017", true, 15);
    assert_pc("0o17", true, 15);
    assert_pc("0b11", true, 3);
    assert_pc("18", true, 18);
    assert_pc("0", true, 0);
    assert_pc("08", false, 0);
    assert_pc("0x", false, 0);
    assert_pc("", false, 0);
    assert_pc("1f", false, 0);
    assert_pc("-1", false, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_value_counts),
        cmocka_unit_test(an_absent_key_has_no_value),
        cmocka_unit_test(escapes_are_decoded_in_keys_and_values),
        cmocka_unit_test(broken_pairs_are_skipped),
        cmocka_unit_test(a_long_value_is_cut),
        cmocka_unit_test(a_path_keeps_its_plus),
        cmocka_unit_test(numbers_are_decimal_with_a_sign),
        cmocka_unit_test(addresses_have_the_bases_of_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
