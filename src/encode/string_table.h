/* SPDX-License-Identifier: MIT
 *
 * string_table.h: numbers texts in the order of their first use.
 *
 * profile.proto refers to every text by its index in one table whose entry 0 is "".
 *
 *   strings  [""][text][text]...         in order of the index
 *   slots    [0][2][0][1]...             open addressing: hash of a text -> its index, 0 = empty
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena, and the texts stay the caller's.
 */
#ifndef PP_ENCODE_STRING_TABLE_H
#define PP_ENCODE_STRING_TABLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_string {
    const char *text; /* not terminated */
    uint32_t length;
    uint32_t hash;
} pp_string;

typedef struct pp_string_table {
    pp_arena *arena;
    pp_string *strings;
    uint32_t *slots;
    uint32_t count;
    uint32_t slot_count; /* a power of two, at least twice the count */
    bool failed;         /* sticky: the arena had no memory */
} pp_string_table;

/* Begins a table that contains only "". */
void pp_string_table_init(pp_string_table *table, pp_arena *arena);

/* Returns the index of `length` bytes at `text`, which must outlive the table; adds new texts at
 * the end. 0 for an empty text, and if memory is lacking (`failed`). */
uint32_t pp_string_table_index(pp_string_table *table, const char *text, size_t length);

#endif
