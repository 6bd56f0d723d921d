/* SPDX-License-Identifier: MIT
 *
 * location_table.h: numbers code addresses 1..n in the order of their first use.
 *
 * The encoder looks up every frame of every sample here, so this is its hot loop.
 *
 *   locations  [address, mapping, function][...]      location id - 1
 *   slots      [0][2][0][1]...                        open addressing: address -> id, 0 = empty
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_LOCATION_TABLE_H
#define PP_ENCODE_LOCATION_TABLE_H

#include "base/arena.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_location {
    uintptr_t address;
    uint32_t mapping;  /* id; 0 = not found yet */
    uint32_t function; /* id; 0 = name unknown */
} pp_location;

typedef struct pp_location_table {
    pp_arena *arena;
    pp_location *locations;
    uint32_t *slots;
    uint32_t count;
    unsigned shift; /* 64 - log2(slots) */
    bool failed;    /* sticky: the arena had no memory */
} pp_location_table;

void pp_location_table_init(pp_location_table *table, pp_arena *arena);

/* The slow half of pp_location_table_id(): adds `address` at `slot`, where it belongs. */
uint32_t pp_location_table_add(pp_location_table *table, uintptr_t address, size_t slot);

/* Multiplicative hashing (Knuth, TAOCP 6.4): the constant is 2^64 over the golden ratio. */
static inline size_t pp_location_hash(uintptr_t address, unsigned shift)
{
    return (size_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> shift);
}

/* Returns the id of the location at `address`; adds a new one. 0 if memory is lacking
 * (`failed`). */
static inline uint32_t pp_location_table_id(pp_location_table *table, uintptr_t address)
{
    if (pp_unlikely(table->failed)) {
        return 0;
    }
    size_t mask = ((size_t)1 << (64 - table->shift)) - 1;
    size_t slot = pp_location_hash(address, table->shift);
    for (; table->slots[slot] != 0; slot = (slot + 1) & mask) {
        if (table->locations[table->slots[slot] - 1].address == address) {
            return table->slots[slot];
        }
    }
    return pp_location_table_add(table, address, slot);
}

#endif
