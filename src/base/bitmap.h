/* SPDX-License-Identifier: MIT
 *
 * bitmap.h: marks which of a fixed number of things are in use, by one bit for each.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_BITMAP_H
#define PP_BASE_BITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_BITMAP_WORD = 64 };

/* Sets a bit that was clear, and returns its index, or -1. */
static inline int pp_bitmap_take(uint64_t *words, size_t count)
{
    for (size_t word = 0; word < count; word++) {
        uint64_t now = __atomic_load_n(&words[word], __ATOMIC_RELAXED);
        while (~now != 0) {
            unsigned bit = (unsigned)__builtin_ctzll(~now);
            if (__atomic_compare_exchange_n(&words[word], &now, now | UINT64_C(1) << bit, true,
                                            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
                return (int)(word * PP_BITMAP_WORD + bit);
            }
        }
    }
    return -1;
}

static inline void pp_bitmap_release(uint64_t *words, size_t index)
{
    __atomic_and_fetch(&words[index / PP_BITMAP_WORD], ~(UINT64_C(1) << index % PP_BITMAP_WORD),
                       __ATOMIC_RELEASE);
}

/* Returns the first index from `from` on whose bit is set, or the number of bits. */
static inline size_t pp_bitmap_next(const uint64_t *words, size_t count, size_t from)
{
    while (from < count * PP_BITMAP_WORD) {
        uint64_t rest = __atomic_load_n(&words[from / PP_BITMAP_WORD], __ATOMIC_RELAXED) >>
                        from % PP_BITMAP_WORD;
        if (rest != 0) {
            return from + (size_t)__builtin_ctzll(rest);
        }
        from += PP_BITMAP_WORD - from % PP_BITMAP_WORD;
    }
    return from;
}

#endif
