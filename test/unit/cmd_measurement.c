/* SPDX-License-Identifier: MIT
 *
 * cmd_measurement.c: values with units, as text.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/measurement.h"

#include <stdlib.h>

static void labels(void **state)
{
    static const struct {
        int64_t value;
        const char *from, *to, *label;
    } cases[] = {
        {1536, "bytes", "minimum", "1.50kB"},
        {1023, "bytes", "minimum", "1023B"},
        {1048576, "bytes", "auto", "1MB"},
        {1, "byte", "GB", "0"}, /* 1e-9 GB rounds to nothing */
        {0, "bytes", "minimum", "0"},
        {-1536, "bytes", "minimum", "-1.50kB"},
        {5, "KB", "bytes", "5120B"},
        {1, "nanoseconds", "minimum", "1ns"},
        {999999, "ns", "minimum", "1000us"},
        {61000000000, "ns", "minimum", "61s"},
        {3600000000000, "ns", "minimum", "1hrs"},
        {90, "minutes", "minimum", "90"},
        {1500, "ms", "seconds", "1.50s"},
        {5, "ms", "bytes", "0.01s"},
        {12345, "count", "minimum", "12345"},
        {7, "widgets", "widgets", "7widgets"},
        {2500, "milligcu", "minimum", "2.50GCU"},
        {INT64_MAX, "count", "minimum", "9223372036854775808"},
        {INT64_MIN, "count", "minimum", "-9223372036854775808"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *label = cp_measure_label(cases[i].value, cases[i].from, cases[i].to);
        assert_string_equal(label, cases[i].label);
        free(label);
    }
}

static void percentages(void **state)
{
    static const struct {
        int64_t value, total;
        const char *text;
    } cases[] = {
        {1, 1, "  100%"},      {999, 1000, "99.90%"}, {99951, 100000, "  100%"},
        {1, 3, "33.33%"},      {-1, 3, "33.33%"},     {1, 100, " 1.00%"},
        {5, 1000, "  0.5%"},   {1, 100000, "0.001%"}, {1, 100000000, "1e-06%"},
        {0, 5, "    0%"},      {5, 0, "    0%"},      {3, 1, "300.00%"},
        {99, 10000, " 0.99%"}, {1, 1000, "  0.1%"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[CP_PERCENT_BYTES];
        cp_measure_percent(cases[i].value, cases[i].total, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void families(void **state)
{
    (void)state;
    assert_true(cp_measure_compatible("ms", "nanoseconds"));
    assert_true(cp_measure_compatible("widgets", "widgets"));
    assert_false(cp_measure_compatible("ms", "bytes"));
    assert_false(cp_measure_compatible("count", "widgets"));
}

static void conversions_have_no_undefined_cases(void **state)
{
    (void)state;
    assert_int_equal(cp_measure_abs(-5), 5);
    assert_int_equal(cp_measure_abs(INT64_MIN), INT64_MIN);
    assert_int_equal(cp_measure_truncate(-2.9), -2);
#ifdef __x86_64__
    const int64_t great = INT64_MIN;
    const int64_t none = INT64_MIN;
#else
    const int64_t great = INT64_MAX;
    const int64_t none = 0;
#endif
    assert_int_equal(cp_measure_truncate(1e300), great);
    assert_int_equal(cp_measure_truncate(0x1p63), great);
    assert_int_equal(cp_measure_truncate(-1e300), INT64_MIN);
    assert_int_equal(cp_measure_truncate(__builtin_nan("")), none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels),
        cmocka_unit_test(percentages),
        cmocka_unit_test(families),
        cmocka_unit_test(conversions_have_no_undefined_cases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
