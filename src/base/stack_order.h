/* SPDX-License-Identifier: MIT
 *
 * stack_order.h: orders stacks that are otherwise equal, so that output is deterministic.
 *
 * The order is by addresses from the leaf on, then by depth. Addresses compare as numbers, or as
 * the texts of rows, "0x401136": as texts 0x7f0000001000 comes before 0x9000.
 *
 * Zone: SIGNAL (pure comparison).
 */
#ifndef PP_BASE_STACK_ORDER_H
#define PP_BASE_STACK_ORDER_H

#include <stdint.h>

/* Returns less than, equal to or greater than 0. */
static inline int pp_stack_compare(const uintptr_t *x, uint32_t x_depth, const uintptr_t *y,
                                   uint32_t y_depth)
{
    for (uint32_t i = 0; i < x_depth && i < y_depth; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return (x_depth > y_depth) - (x_depth < y_depth);
}

/* Returns the hexadecimal digits from the first one that is not 0 on, in the highest bits; *shift
 * is the number of bits before them. */
static inline uint64_t pp_leading_digits(uintptr_t address, unsigned *shift)
{
    *shift = (unsigned)__builtin_clzll((uint64_t)address | 1) & ~3u;
    return (uint64_t)address << *shift;
}

/* A text comes before a longer text that begins with it: in a row, the character after it is less
 * than any digit. */
static inline int pp_address_compare_texts(uintptr_t x, uintptr_t y)
{
    unsigned x_shift = 0;
    unsigned y_shift = 0;
    uint64_t x_digits = pp_leading_digits(x, &x_shift);
    uint64_t y_digits = pp_leading_digits(y, &y_shift);
    if (x_digits != y_digits) {
        return x_digits < y_digits ? -1 : 1;
    }
    return (x_shift < y_shift) - (x_shift > y_shift);
}

/* Orders stacks as "@ 0x401136 0x401200 ...", byte by byte. */
static inline int pp_stack_compare_texts(const uintptr_t *x, uint32_t x_depth, const uintptr_t *y,
                                         uint32_t y_depth)
{
    for (uint32_t i = 0; i < x_depth && i < y_depth; i++) {
        if (x[i] != y[i]) {
            return pp_address_compare_texts(x[i], y[i]);
        }
    }
    return (x_depth > y_depth) - (x_depth < y_depth);
}

#endif
