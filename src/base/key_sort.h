/* SPDX-License-Identifier: MIT
 *
 * key_sort.h: sorts items by a number, where there is memory for a copy of them, and finds them.
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

/* The last of the sorted items whose key is <= `most`; NULL: there is none. Zone: SIGNAL. */
static inline const pp_keyed *pp_key_last_up_to(const pp_keyed *items, size_t count, uint64_t most)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].key <= most) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? &items[low - 1] : NULL;
}

#endif
