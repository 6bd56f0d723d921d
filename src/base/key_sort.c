/* SPDX-License-Identifier: MIT
 *
 * key_sort.c: a radix sort, from the lowest byte of the keys to the highest.
 *
 * Each pass counts how often each value of its byte occurs, which gives the place of the first item
 * with that value, and moves the items there in their order. Bytes that are equal in all keys need
 * no pass: most keys are small numbers, or addresses of one region.
 *
 * Zone: NORMAL, and the fatal-signal writer (1 KiB of stack).
 */
#include "base/key_sort.h"

#include <string.h>

enum { BYTE_BITS = 8, VALUES = 1 << BYTE_BITS, KEY_BITS = 64 };

static size_t value_at(uint64_t key, unsigned shift)
{
    return (size_t)(key >> shift) % VALUES;
}

/* The bits in which some keys differ. */
static uint64_t varying_bits(const pp_keyed *items, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 1; i < count; i++) {
        bits |= items[i].key ^ items[0].key;
    }
    return bits;
}

static void sort_by_byte(const pp_keyed *from, pp_keyed *to, size_t count, unsigned shift)
{
    uint32_t place[VALUES];
    uint32_t next = 0;
    memset(place, 0, sizeof place);
    for (size_t i = 0; i < count; i++) {
        place[value_at(from[i].key, shift)]++;
    }
    for (size_t value = 0; value < VALUES; value++) {
        uint32_t found = place[value];
        place[value] = next;
        next += found;
    }
    for (size_t i = 0; i < count; i++) {
        to[place[value_at(from[i].key, shift)]++] = from[i];
    }
}

void pp_key_sort(pp_keyed *items, pp_keyed *spare, size_t count)
{
    uint64_t bits = varying_bits(items, count);
    pp_keyed *from = items;
    pp_keyed *to = spare;
    for (unsigned shift = 0; shift < KEY_BITS; shift += BYTE_BITS) {
        if (value_at(bits, shift) != 0) {
            sort_by_byte(from, to, count, shift);
            pp_keyed *sorted = to;
            to = from;
            from = sorted;
        }
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
}
