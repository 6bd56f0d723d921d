/* SPDX-License-Identifier: MIT
 *
 * line_table.h: file and line of an address, by the line table of its compilation unit.
 *
 * Locks: none.
 * Owns: nothing: libdw keeps a unit's table for as long as it is open.
 */
#ifndef PP_DWARF_LINE_TABLE_H
#define PP_DWARF_LINE_TABLE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_line_table {
    Dwarf_Lines *lines; /* NULL = none */
    size_t count;
    Dwarf_Files *files; /* NULL = none */
    size_t file_count;
} pp_line_table;

void pp_line_table_open(pp_line_table *table, Dwarf_Die *unit);

/* False if no row covers the address. *line 0: code that comes from no line of the source. */
bool pp_line_table_find(const pp_line_table *table, Dwarf_Addr address, const char **file,
                        uint32_t *line);

/* The file with that number; NULL if there is none. */
const char *pp_line_table_file(const pp_line_table *table, uint64_t number);

#endif
