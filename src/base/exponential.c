/* SPDX-License-Identifier: MIT
 *
 * exponential.c: computes the logarithm and the exponential function by series.
 *
 * Zone: SIGNAL.
 */
#include "base/exponential.h"

#include "base/random.h"

static const double ln_2 = 0.69314718055994530942;
static const double half_root_2 = 0.70710678118654752440;
static const double two_to_minus_53 = 1.0 / 9007199254740992.0;
static const double longest = 4611686018427387904.0; /* 2^62: sums of a few stay below 2^64 */

static const double odd_reciprocals[] = {1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11,
                                         1. / 9,  1. / 7,  1. / 5,  1. / 3,  1.};

enum {
    EXPONENT_SHIFT = 52,
    EXPONENT_MASK = 0x7ff,
    EXPONENT_OF_HALF = 1022 /* of numbers in [0.5, 1) */
};

typedef union bits {
    double value;
    uint64_t word;
} bits;

/* u = m 2^k with m near 1; ln m = -2 artanh((1 - m) / (1 + m)), whose argument is below 0.172. */
double pp_minus_ln(double u)
{
    bits b = {.value = u};
    int k = (int)(b.word >> EXPONENT_SHIFT & EXPONENT_MASK) - EXPONENT_OF_HALF;
    b.word &= ~((uint64_t)EXPONENT_MASK << EXPONENT_SHIFT);
    b.word |= (uint64_t)EXPONENT_OF_HALF << EXPONENT_SHIFT;
    double m = b.value;
    if (m < half_root_2) {
        m *= 2;
        k--;
    }
    double s = (1 - m) / (1 + m);
    double square = s * s;
    double sum = 0;
    for (unsigned i = 0; i < sizeof odd_reciprocals / sizeof *odd_reciprocals; i++) {
        sum = sum * square + odd_reciprocals[i];
    }
    return 2 * s * sum - k * ln_2;
}

uint64_t pp_draw_exponential(uint64_t *random, uint64_t mean)
{
    if (mean <= 1) {
        return 1;
    }
    double u = (double)((pp_random_next(random) >> 11) + 1) * two_to_minus_53; /* (0, 1] */
    double bytes = pp_minus_ln(u) * (double)mean;
    if (bytes >= longest) {
        return (uint64_t)longest;
    }
    uint64_t whole = (uint64_t)bytes;
    return (double)whole < bytes || whole == 0 ? whole + 1 : whole;
}

/* 1 - e^-x for x > 0. */
static double one_minus_exp(double x)
{
    if (x > 40) {
        return 1; /* e^-40 is below the last digit */
    }
    unsigned halvings = 0;
    while (x > 0.5) {
        x /= 2;
        halvings++;
    }
    double sum = 0; /* x - x^2/2! + x^3/3! - ..., by Horner */
    for (int n = 15; n >= 1; n--) {
        sum = x / n * (1 - sum);
    }
    for (; halvings > 0; halvings--) {
        sum *= 2 - sum; /* 1 - e^-2y = (1 - e^-y) (1 + e^-y) */
    }
    return sum;
}

double pp_blocks_per_sample(double size, uint64_t rate)
{
    if (rate <= 1) {
        return 1;
    }
    return 1 / one_minus_exp((size < 1 ? 1 : size) / (double)rate);
}
