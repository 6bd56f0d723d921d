/* SPDX-License-Identifier: MIT
 *
 * key_sort.h: sorts items by a number, where there is memory for a copy of them.
 *
 * Items with equal keys stay in their order. Where many numbers are compared, this takes a tenth of
 * the time of pp_sort(), which needs no memory.
 *
 * Zone: NORMAL, and the fatal-signal writer (1 KiB of stack).
 */
#ifndef PP_BASE_KEY_SORT_H
#define PP_BASE_KEY_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct pp_keyed {
    uint64_t key;
    size_t index; /* of what the key is of */
} pp_keyed;

/* Sorts items[count], the least key first. `spare` has room for as many. */
void pp_key_sort(pp_keyed *items, pp_keyed *spare, size_t count);

#endif
