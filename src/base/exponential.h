/* SPDX-License-Identifier: MIT
 *
 * exponential.h: the exponential distribution: drawing from it, and undoing what it did.
 *
 * Bytes are sampled as a Poisson process: the number of bytes to the next sample is exponential
 * with the mean `rate`, so that a block of s bytes is sampled with probability 1 - e^(-s / rate),
 * whatever was allocated before it. libm is not used: the library is loaded into strangers.
 *
 * Zone: SIGNAL (pure arithmetic on the caller's state).
 */
#ifndef PP_BASE_EXPONENTIAL_H
#define PP_BASE_EXPONENTIAL_H

#include <stdint.h>

/* -ln(u) for u in (0, 1], to 15 digits. */
double pp_minus_ln(double u);

/*
 * How many bytes, at least 1, up to and including the next one that is sampled: a whole number with
 * P(result <= s) = 1 - e^(-s / mean) for whole s. `mean` 1 and less gives 1. At most 2^62.
 */
uint64_t pp_draw_exponential(uint64_t *random, uint64_t mean);

/*
 * How many blocks of `size` bytes one sampled block stands for: 1 / (1 - e^(-size / rate)).
 * 1 where every block is sampled (rate <= 1). `size` may be an average; 0 counts as 1 byte.
 */
double pp_blocks_per_sample(double size, uint64_t rate);

#endif
