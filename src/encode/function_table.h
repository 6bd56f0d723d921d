/* SPDX-License-Identifier: MIT
 *
 * function_table.h: numbers functions 1..n in the order in which they are first seen.
 *
 * A function is told by its name, its file and where it begins there, as readers do: of where lines
 * are unknown, only the name is there.
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
    uint32_t name;       /* indices of a table of texts */
    uint32_t file;       /* 0 = unknown */
    uint32_t start_line; /* likewise */
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

/* The id of a function, new ones included; 0 when memory is refused (`failed`). */
uint32_t pp_function_table_id(pp_function_table *table, const pp_function *function);

#endif
