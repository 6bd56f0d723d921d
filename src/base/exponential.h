/* SPDX-License-Identifier: MIT
 *
 * exponential.h: draws from the exponential distribution, and scales samples back up.
 *
 * The heap's samples are a Poisson process over allocated bytes: the number of bytes to the next
 * sample is exponential with the mean `rate`. So a block of s bytes is sampled with probability 1 -
 * e^(-s / rate), whatever was allocated before it. The library does not use libm, because it is
 * loaded into other people's programs.
 *
 * Zone: SIGNAL (pure arithmetic on the caller's state).
 */
#ifndef PP_BASE_EXPONENTIAL_H
#define PP_BASE_EXPONENTIAL_H

#include <stdint.h>

/* Returns -ln(u) for u in (0, 1], to 15 digits. */
double pp_minus_ln(double u);

/*
 * Returns the number of bytes, at least 1, up to and including the next sampled byte: a whole
 * number with P(result <= s) = 1 - e^(-s / mean) for whole s. A `mean` of 1 or less gives 1. At
 * most 2^62.
 */
uint64_t pp_draw_exponential(uint64_t *random, uint64_t mean);

/*
 * Returns the number of blocks of `size` bytes that one sampled block represents: 1 / (1 - e^(-size
 * / rate)); 1 if every block is sampled (rate <= 1). `size` may be an average; 0 counts as 1 byte.
 */
double pp_blocks_per_sample(double size, uint64_t rate);

#endif
