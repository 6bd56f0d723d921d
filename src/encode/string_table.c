/* SPDX-License-Identifier: MIT
 *
 * string_table.c: an open-addressing table of texts (drawing in string_table.h).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "encode/string_table.h"

#include "base/text_hash.h"

#include <string.h>

enum { SLOTS_MIN = 512 };

/* Allocates `slot_count` slots and fills them from the strings. The old arrays remain in
 * the arena. */
static bool resize(pp_string_table *table, uint32_t slot_count)
{
    pp_string *strings = pp_arena_array(table->arena, slot_count / 2, sizeof(*strings));
    uint32_t *slots = pp_arena_array(table->arena, slot_count, sizeof(*slots));
    if (strings == NULL || slots == NULL) {
        return false;
    }
    for (uint32_t index = 1; index < table->count; index++) {
        uint32_t slot = table->strings[index].hash & (slot_count - 1);
        while (slots[slot] != 0) {
            slot = (slot + 1) & (slot_count - 1);
        }
        slots[slot] = index;
    }
    if (table->count > 0) {
        memcpy(strings, table->strings, table->count * sizeof(*strings));
    }
    table->strings = strings;
    table->slots = slots;
    table->slot_count = slot_count;
    return true;
}

void pp_string_table_init(pp_string_table *table, pp_arena *arena)
{
    *table = (pp_string_table){.arena = arena};
    table->failed = !resize(table, SLOTS_MIN);
    if (!table->failed) {
        table->strings[0] = (pp_string){"", 0, 0};
        table->count = 1;
    }
}

uint32_t pp_string_table_index(pp_string_table *table, const char *text, size_t length)
{
    if (length == 0 || table->failed) {
        return 0;
    }
    if (length > UINT32_MAX) {
        length = UINT32_MAX;
    }
    uint32_t hash = (uint32_t)pp_text_hash(text, length);
    uint32_t slot = hash & (table->slot_count - 1);
    for (; table->slots[slot] != 0; slot = (slot + 1) & (table->slot_count - 1)) {
        const pp_string *known = &table->strings[table->slots[slot]];
        if (known->hash == hash && known->length == length &&
            memcmp(known->text, text, length) == 0) {
            return table->slots[slot];
        }
    }

    if (table->count == table->slot_count / 2) {
        if (table->slot_count > UINT32_MAX / 4 || !resize(table, table->slot_count * 2)) {
            table->failed = true;
            return 0;
        }
        slot = hash & (table->slot_count - 1);
        while (table->slots[slot] != 0) {
            slot = (slot + 1) & (table->slot_count - 1);
        }
    }
    table->slots[slot] = table->count;
    table->strings[table->count] = (pp_string){text, (uint32_t)length, hash};
    return table->count++;
}
