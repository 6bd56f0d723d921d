/* SPDX-License-Identifier: MIT
 *
 * id_table.c: see id_table.h.
 *
 * Owns: the arrays.
 * Tested by: unit.cmd_id_table.
 */
#include "profile/id_table.h"

#include "base/pool.h"
#include "base/string_pool.h"
#include "profile/protobuf.h"

#include <stdlib.h>

void cp_ids_init(cp_ids *table, uint32_t count, const char *what)
{
    uint64_t slots = 16;

    while (slots < 2 * (uint64_t)count) {
        slots *= 2;
    }
    table->limit = 2 * (uint64_t)count + 1;
    table->small = cp_heap_alloc(table->limit, sizeof *table->small);
    table->ids = NULL;
    table->indices = NULL;
    table->mask = slots - 1;
    table->factor = cp_hash_secret();
    table->what = what;
}

void cp_ids_release(cp_ids *table)
{
    free(table->small);
    free(table->ids);
    free(table->indices);
}

/* The highest bits of the product, as many as the mask has. */
static uint64_t id_slot(const cp_ids *table, uint64_t id)
{
    uint64_t at = (id * table->factor) >> __builtin_clzll(table->mask);

    while (table->ids[at] && table->ids[at] != id) {
        at = (at + 1) & table->mask;
    }
    return at;
}

static bool refuse_second(const cp_ids *table, cp_wire *wire, size_t offset, uint64_t id)
{
    return cp_wire_fail(wire, offset, "expected a new %s id, found %llu for the second time",
                        table->what, (unsigned long long)id);
}

static bool add_large(cp_ids *table, cp_wire *wire, size_t offset, uint64_t id, uint32_t index)
{
    if (!table->ids) {
        table->ids = cp_heap_alloc(table->mask + 1, sizeof *table->ids);
        table->indices = cp_heap_alloc(table->mask + 1, sizeof *table->indices);
    }
    uint64_t at = id_slot(table, id);
    if (table->ids[at]) {
        return refuse_second(table, wire, offset, id);
    }
    table->ids[at] = id;
    table->indices[at] = index;
    return true;
}

bool cp_ids_add(cp_ids *table, cp_wire *wire, size_t offset, uint64_t id, uint32_t index)
{
    if (id == 0) {
        return cp_wire_fail(wire, offset, "expected a %s with an id, found id 0", table->what);
    }
    if (id >= table->limit) {
        return add_large(table, wire, offset, id, index);
    }
    if (table->small[id]) {
        return refuse_second(table, wire, offset, id);
    }
    table->small[id] = index + 1;
    return true;
}

bool cp_ids_find_large(const cp_ids *table, cp_wire *wire, size_t offset, uint64_t id,
                       uint32_t *index)
{
    uint64_t at = id >= table->limit && table->ids ? id_slot(table, id) : 0;

    if (id < table->limit || !table->ids || !table->ids[at]) {
        return cp_wire_fail(wire, offset, "expected the id of a %s, found %llu, which none has",
                            table->what, (unsigned long long)id);
    }
    *index = table->indices[at];
    return true;
}
