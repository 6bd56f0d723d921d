/* SPDX-License-Identifier: MIT
 *
 * line_table.h: file and line of an address, by the line table of its compilation unit.
 *
 * Names of files that the compiler was given relative to its working folder are completed by that
 * folder, if the unit tells an absolute one (-fdebug-prefix-map may have made it ".").
 *
 * Owns: the names that it has completed, until it is closed; libdw keeps a unit's table for as long
 * as it is open.
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
    const char *folder; /* where the compiler ran; NULL = unknown, or not absolute */
    char **completed;   /* by the file's number; NULL: none is */
} pp_line_table;

/* A line of the source. */
typedef struct pp_source_line {
    size_t file;   /* its number */
    uint32_t line; /* 0: code that comes from no line of the source */
} pp_source_line;

void pp_line_table_open(pp_line_table *table, Dwarf_Die *unit);
void pp_line_table_close(pp_line_table *table);

/* False if no row covers the address. */
bool pp_line_table_find(const pp_line_table *table, Dwarf_Addr address, pp_source_line *found);

/* The name of a file as it stands in the table, and as it is shown. NULL if there is no such
 * number. */
const char *pp_line_table_raw_file(const pp_line_table *table, size_t number);
const char *pp_line_table_file(pp_line_table *table, size_t number);

#endif
