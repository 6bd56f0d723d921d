/* SPDX-License-Identifier: MIT
 *
 * function_table.h: numbers functions 1..n in the order of their first use.
 *
 * A function is identified by its name, its file and its first line, as in readers. Without line
 * information only the name is set.
 *
 *   functions  [name, file, start line][...]      function id - 1
 *   slots      [0][2][0][1]...                    open addressing: all three -> id, 0 = empty
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing: its memory goes with the arena.
 */
#ifndef PP_ENCODE_FUNCTION_TABLE_H
#define PP_ENCODE_FUNCTION_TABLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_function {
    uint32_t name;       /* index of a text */
    uint32_t file;       /* index of a text; 0 = unknown */
    uint32_t start_line; /* 0 = unknown */
} pp_function;

typedef struct pp_function_table {
    pp_arena *arena;
    pp_function *functions;
    uint32_t *slots;
    uint32_t count;
    uint32_t slot_count; /* a power of two, at least twice the count */
    bool failed;         /* sticky: the arena had no memory */
} pp_function_table;

void pp_function_table_init(pp_function_table *table, pp_arena *arena);

/* Returns the id of a function; adds a new one. 0 if memory is lacking (`failed`). */
uint32_t pp_function_table_id(pp_function_table *table, const pp_function *function);

#endif
