/* SPDX-License-Identifier: MIT
 *
 * value_rows.c: counts the values of a table in one pass.
 *
 * During the pass no thread can add or remove a value. So this code first makes room for as many
 * rows as there are values (the kernel provides only pages that are used). The pass then only
 * counts, by the identity of stacks and sets: a million values at fifty places touch fifty rows.
 * Equal sets that are different objects are merged later (count_profile.h).
 *
 * Zone: NORMAL.
 * Tested by: unit.custom_profiles
 */
#include "profile/value_rows.h"

#include <errno.h>
#include <stdint.h>

enum { SLACK = 1024 /* values that threads add before the pass begins */ };

typedef struct counter {
    pp_value_rows *rows;
    uint32_t *index; /* index of a row + 1, by the hash of its stack and set */
    size_t mask;
} counter;

static size_t hash_of(const pp_value *value)
{
    uint64_t hash = ((uintptr_t)value->stack >> 4) ^ ((uint64_t)(uintptr_t)value->labels << 7);
    return (hash * UINT64_C(0x9e3779b97f4a7c15)) >> 24; /* 2^64 / golden ratio */
}

static bool is_of(const pp_count_row *row, const pp_value *value)
{
    return row->pc == value->stack->pc && row->labels == value->labels;
}

static void count_value(const pp_value *value, void *context)
{
    const counter *c = context;
    pp_value_rows *rows = c->rows;
    size_t place = hash_of(value) & c->mask;
    while (c->index[place] != 0) {
        pp_count_row *row = &rows->list[c->index[place] - 1];
        if (is_of(row, value)) {
            row->count++;
            return;
        }
        place = (place + 1) & c->mask;
    }
    rows->list[rows->count++] = (pp_count_row){.pc = value->stack->pc,
                                               .depth = value->stack->depth,
                                               .labels = pp_labels_ref(value->labels),
                                               .count = 1};
    c->index[place] = (uint32_t)rows->count;
}

/* Returns 0, -ENOMEM, or -EAGAIN if the table has more than `capacity` values. */
static int count_at_most(pp_value_table *table, size_t capacity, pp_arena *arena,
                         pp_value_rows *rows)
{
    counter c = {.rows = rows, .mask = 1};
    while (c.mask < 2 * capacity) {
        c.mask *= 2;
    }
    rows->count = 0;
    rows->list = pp_arena_array(arena, capacity, sizeof *rows->list);
    c.index = pp_arena_array(arena, c.mask, sizeof *c.index);
    if (rows->list == NULL || c.index == NULL) {
        return -ENOMEM;
    }
    c.mask--;
    return pp_value_table_each(table, capacity, count_value, &c) ? 0 : -EAGAIN;
}

int pp_value_rows_read(pp_value_table *table, pp_arena *arena, pp_value_rows *rows)
{
    int error = -EAGAIN;
    for (size_t slack = SLACK; error == -EAGAIN; slack *= 2) {
        size_t values = pp_value_table_estimate(table);
        error = count_at_most(table, values + values / 8 + slack, arena, rows);
    }
    return error;
}
