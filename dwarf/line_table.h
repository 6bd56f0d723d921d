/* SPDX-License-Identifier: MIT
 *
 * line_table.h: file and line of an address, by the line table of its compilation unit.
 *
 * If the name of a file is relative to the compiler's working folder, that folder is put before it.
 * The unit must have an absolute path for it (-fdebug-prefix-map may have made it ".").
 *
 * Owns: the names with a folder, until it is closed. libdw owns the unit's table.
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
    const char *folder; /* the compiler's working folder; NULL: unknown, or not absolute */
    char **completed;   /* names with the folder, by the file's number; NULL: none yet */
} pp_line_table;

/* A line of the source. */
typedef struct pp_source_line {
    size_t file;   /* the file's number */
    uint32_t line; /* 0: the code comes from no line */
    uint32_t discriminator;
} pp_source_line;

void pp_line_table_open(pp_line_table *table, Dwarf_Die *unit);
void pp_line_table_close(pp_line_table *table);

/* False if no row covers the address. */
bool pp_line_table_find(const pp_line_table *table, Dwarf_Addr address, pp_source_line *found);

/* The name of a file in the table, and the name to show. NULL if there is no such number. */
const char *pp_line_table_raw_file(const pp_line_table *table, size_t number);
const char *pp_line_table_file(pp_line_table *table, size_t number);

#endif
