/* SPDX-License-Identifier: MIT
 *
 * random.h: a small random generator for sampling decisions.
 *
 * Zone: SIGNAL (pure arithmetic on the caller's state).
 */
#ifndef PP_BASE_RANDOM_H
#define PP_BASE_RANDOM_H

#include <stdint.h>

/* Splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static inline uint64_t pp_random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns a uniform number in [0, bound): the high word of a 64 x 64 product (Lemire 2019, bias <
 * bound / 2^64). */
static inline uint64_t pp_random_below(uint64_t *state, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)pp_random_next(state) * bound) >> 64);
}

#endif
