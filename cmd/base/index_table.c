/* SPDX-License-Identifier: MIT
 *
 * index_table.c: see index_table.h.
 *
 * Tested by: unit.cmd_merge.
 */
#include "base/index_table.h"

#include "base/pool.h"

#include <stdlib.h>

void cp_index_init(cp_index_table *table, uint64_t slots)
{
    table->slots = cp_heap_alloc(slots, sizeof *table->slots);
    table->hashes = cp_heap_alloc(slots, sizeof *table->hashes);
    table->mask = slots - 1;
    table->used = 0;
}

void cp_index_release(cp_index_table *table)
{
    free(table->slots);
    free(table->hashes);
}

static void put(cp_index_table *table, uint64_t hash, uint32_t index)
{
    uint64_t at = hash & table->mask;

    while (table->slots[at]) {
        at = (at + 1) & table->mask;
    }
    table->slots[at] = index + 1;
    table->hashes[at] = hash;
    table->used++;
}

void cp_index_add(cp_index_table *table, uint64_t hash, uint32_t index)
{
    if (2 * table->used > table->mask) {
        cp_index_table old = *table;

        cp_index_init(table, 2 * (old.mask + 1));
        for (uint64_t i = 0; i <= old.mask; i++) {
            if (old.slots[i]) {
                put(table, old.hashes[i], old.slots[i] - 1);
            }
        }
        cp_index_release(&old);
    }
    put(table, hash, index);
}

bool cp_index_next(const cp_index_table *table, uint64_t hash, uint64_t *at, uint32_t *index)
{
    for (;; ++*at) {
        uint64_t slot = *at & table->mask;

        if (!table->slots[slot]) {
            return false;
        }
        if (table->hashes[slot] == hash) {
            *index = table->slots[slot] - 1;
            ++*at;
            return true;
        }
    }
}
