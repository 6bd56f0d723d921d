/* SPDX-License-Identifier: MIT
 *
 * location_table.c: grows the table of addresses (drawing in location_table.h).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "encode/location_table.h"

#include <string.h>

enum {
    SLOT_BITS_MIN = 10,
    SLOT_BITS_MAX = 31 /* ids are 32 bits */
};

static size_t free_slot(const uint32_t *slots, unsigned shift, uintptr_t address)
{
    size_t mask = ((size_t)1 << (64 - shift)) - 1;
    size_t slot = pp_location_hash(address, shift);
    while (slots[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* At most half of the slots are used. The old arrays remain in the arena. */
static bool resize(pp_location_table *table, unsigned bits)
{
    unsigned shift = 64 - bits;
    size_t slot_count = (size_t)1 << bits;
    pp_location *locations = pp_arena_array(table->arena, slot_count / 2, sizeof(*locations));
    uint32_t *slots = pp_arena_array(table->arena, slot_count, sizeof(*slots));
    if (locations == NULL || slots == NULL) {
        return false;
    }
    if (table->count > 0) {
        memcpy(locations, table->locations, table->count * sizeof(*locations));
    }
    for (uint32_t i = 0; i < table->count; i++) {
        slots[free_slot(slots, shift, locations[i].address)] = i + 1;
    }
    table->locations = locations;
    table->slots = slots;
    table->shift = shift;
    return true;
}

void pp_location_table_init(pp_location_table *table, pp_arena *arena)
{
    *table = (pp_location_table){.arena = arena};
    table->failed = !resize(table, SLOT_BITS_MIN);
}

uint32_t pp_location_table_add(pp_location_table *table, uintptr_t address, size_t slot)
{
    unsigned bits = 64 - table->shift;
    if (table->count == (uint32_t)1 << (bits - 1)) {
        if (bits == SLOT_BITS_MAX || !resize(table, bits + 1)) {
            table->failed = true;
            return 0;
        }
        slot = free_slot(table->slots, table->shift, address);
    }
    table->locations[table->count].address = address;
    table->slots[slot] = ++table->count;
    return table->count;
}
