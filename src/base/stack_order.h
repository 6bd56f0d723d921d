/* SPDX-License-Identifier: MIT
 *
 * stack_order.h: the order of stacks where all else is equal, so that what is written is the same each
 * time: by their addresses from the leaf on, then by depth.
 *
 * Zone: SIGNAL (pure comparison).
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_BASE_STACK_ORDER_H
#define PP_BASE_STACK_ORDER_H

#include <stdint.h>

/* Less than, equal to or greater than 0. */
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

#endif
