/* SPDX-License-Identifier: MIT
 *
 * test_exponential.c: the logarithm against known values, the distribution against its formula.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/exponential.h"

#include <stdbool.h>

static double distance(double a, double b)
{
    return a > b ? a - b : b - a;
}

static bool is_near(double value, double expected, double relative)
{
    return distance(value, expected) <= relative * distance(expected, 0);
}

static void logarithms_are_right(void **state)
{
    (void)state;
    static const double known[][2] = {
        {0.5, 0.69314718055994530942},   {0.1, 2.30258509299404568402},
        {0.9, 0.10536051565782630123},   {0.75, 0.28768207245178092744},
        {0.7071, 0.34658318037194193},   {0.70711, 0.34656903820069414},
        {0.001, 6.90775527898213705205}, {1.0 / 9007199254740992.0, 36.7368005696771013991},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(is_near(pp_minus_ln(known[i][0]), known[i][1], 1e-13));
    }
    assert_true(distance(pp_minus_ln(1), 0) < 1e-300);
}

/* ln(a b) = ln a + ln b, over the whole range. */
static void logarithms_add_up(void **state)
{
    (void)state;
    double a = 1;
    for (int i = 0; i < 70; i++) {
        double b = 1;
        for (int k = 0; k < 60; k++) {
            assert_true(distance(pp_minus_ln(a * b), pp_minus_ln(a) + pp_minus_ln(b)) < 1e-13);
            b *= 0.79;
        }
        a *= 0.83;
    }
}

static void a_sample_stands_for_as_many_blocks_as_the_formula_says(void **state)
{
    (void)state;
    static const struct {
        double size;
        uint64_t rate;
        double blocks; /* 1 / (1 - exp(-size / rate)) */
    } known[] = {
        {1, 1, 1},
        {1000, 0, 1},
        {512 * 1024, 512 * 1024, 1.58197670686932642439},
        {1, 512 * 1024, 524288.50000015894571},
        {64, 512 * 1024, 8192.50001017252604},
        {100000, 65536, 1.27784075153800247},
        {1e9, 512 * 1024, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(
            is_near(pp_blocks_per_sample(known[i].size, known[i].rate), known[i].blocks, 1e-12));
    }
    assert_true(is_near(pp_blocks_per_sample(0, 1000), pp_blocks_per_sample(1, 1000), 1e-15));
}

/* P(draw <= s) = 1 - e^(-s / mean), for whole s. */
static void draws_have_the_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 400000, MEAN = 100 };
    static const uint64_t limits[] = {1, 3, 10, 50, 100, 200, 500};
    uint64_t random = 7;
    unsigned below[sizeof limits / sizeof *limits] = {0};
    double sum = 0;
    for (int i = 0; i < DRAWS; i++) {
        uint64_t bytes = pp_draw_exponential(&random, MEAN);
        assert_true(bytes >= 1);
        sum += (double)bytes;
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            below[k] += bytes <= limits[k];
        }
    }
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        double share = 1 / pp_blocks_per_sample((double)limits[k], MEAN);
        assert_true(distance(below[k], share * DRAWS) < 4 * 320); /* 4 sqrt(DRAWS / 4) */
    }
    /* The mean of a rounded-up exponential: 1 / (1 - e^(-1 / mean)). */
    assert_true(distance(sum / DRAWS, pp_blocks_per_sample(1, MEAN)) < 4 * 100 / 632.0);
}

static void extremes_stay_within_bounds(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(pp_draw_exponential(&random, 0), 1);
        assert_int_equal(pp_draw_exponential(&random, 1), 1);
        uint64_t longest = pp_draw_exponential(&random, INT64_MAX);
        assert_true(longest >= 1 && longest <= UINT64_C(1) << 62);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_are_right),
        cmocka_unit_test(logarithms_add_up),
        cmocka_unit_test(a_sample_stands_for_as_many_blocks_as_the_formula_says),
        cmocka_unit_test(draws_have_the_distribution),
        cmocka_unit_test(extremes_stay_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
