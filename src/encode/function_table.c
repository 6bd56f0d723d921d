/* SPDX-License-Identifier: MIT
 *
 * function_table.c: an open-addressing table of functions (drawing in function_table.h).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "encode/function_table.h"

#include <string.h>

enum { SLOTS_MIN = 512, SLOTS_MAX = 1 << 30 };

/* Multiplicative hashing (Knuth, TAOCP 6.4): the constant is 2^64 over the golden ratio. */
static uint32_t hash(const pp_function *function)
{
    uint64_t key = ((uint64_t)function->file << 32 | function->name) + function->start_line;
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);
}

/* Returns the slot of the function, or the free slot where it belongs. */
static uint32_t *slot_of(const pp_function_table *table, const pp_function *function)
{
    uint32_t mask = table->slot_count - 1;
    uint32_t slot = hash(function) & mask;
    for (; table->slots[slot] != 0; slot = (slot + 1) & mask) {
        const pp_function *known = &table->functions[table->slots[slot] - 1];
        if (known->name == function->name && known->file == function->file &&
            known->start_line == function->start_line) {
            break;
        }
    }
    return &table->slots[slot];
}

/* The old arrays remain in the arena. */
static bool resize(pp_function_table *table, uint32_t slot_count)
{
    pp_function *functions = pp_arena_array(table->arena, slot_count / 2, sizeof *functions);
    uint32_t *slots = pp_arena_array(table->arena, slot_count, sizeof *slots);
    if (functions == NULL || slots == NULL) {
        return false;
    }
    if (table->count > 0) {
        memcpy(functions, table->functions, table->count * sizeof *functions);
    }
    table->functions = functions;
    table->slots = slots;
    table->slot_count = slot_count;
    for (uint32_t i = 0; i < table->count; i++) {
        *slot_of(table, &functions[i]) = i + 1;
    }
    return true;
}

void pp_function_table_init(pp_function_table *table, pp_arena *arena)
{
    *table = (pp_function_table){.arena = arena};
    table->failed = !resize(table, SLOTS_MIN);
}

static uint32_t add(pp_function_table *table, const pp_function *function)
{
    if (table->count == table->slot_count / 2 &&
        (table->slot_count == SLOTS_MAX || !resize(table, table->slot_count * 2))) {
        table->failed = true;
        return 0;
    }
    table->functions[table->count] = *function;
    *slot_of(table, function) = table->count + 1;
    return ++table->count;
}

uint32_t pp_function_table_id(pp_function_table *table, const pp_function *function)
{
    if (table->failed) {
        return 0;
    }
    uint32_t id = *slot_of(table, function);
    return id != 0 ? id : add(table, function);
}
