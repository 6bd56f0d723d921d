/* SPDX-License-Identifier: MIT
 *
 * line_table.c: a search in the rows, which libdw sorts by address.
 *
 *   [0x10 a.c:5][0x18 a.c:6][0x20 a.c:6][0x28 end] ... [0x90 a.c:1][0x99 end]
 *
 * A row covers the addresses up to the next row's; an end covers none. Of several rows at one
 * address the last one is right. (dwarf_getsrc_die() does the same, but ends the process if a table
 * does not end with an end.)
 */
#include "dwarf/line_table.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pp_line_table_open(pp_line_table *table, Dwarf_Die *unit)
{
    *table = (pp_line_table){0};
    if (dwarf_getsrclines(unit, &table->lines, &table->count) != 0) {
        table->lines = NULL;
        table->count = 0;
    }
    if (dwarf_getsrcfiles(unit, &table->files, &table->file_count) != 0) {
        table->files = NULL;
        table->file_count = 0;
    }
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    table->folder = folder != NULL && *folder == '/' ? folder : NULL;
}

void pp_line_table_close(pp_line_table *table)
{
    for (size_t i = 0; table->completed != NULL && i < table->file_count; i++) {
        free(table->completed[i]);
    }
    free(table->completed);
    *table = (pp_line_table){0};
}

/* ---- files ---- */

const char *pp_line_table_raw_file(const pp_line_table *table, size_t number)
{
    return number < table->file_count ? dwarf_filesrc(table->files, number, NULL, NULL) : NULL;
}

static char *joined(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + sizeof "/";
    char *path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s/%s", folder, name);
    }
    return path;
}

const char *pp_line_table_file(pp_line_table *table, size_t number)
{
    const char *name = pp_line_table_raw_file(table, number);
    if (name == NULL || *name == '/' || table->folder == NULL) {
        return name;
    }
    if (table->completed == NULL) {
        table->completed = calloc(table->file_count, sizeof *table->completed);
    }
    if (table->completed == NULL) {
        return name;
    }
    if (table->completed[number] == NULL) {
        table->completed[number] = joined(table->folder, name);
    }
    return table->completed[number] != NULL ? table->completed[number] : name;
}

/* ---- rows ---- */

static Dwarf_Addr address_of(const pp_line_table *table, size_t row)
{
    Dwarf_Addr address = 0;
    dwarf_lineaddr(dwarf_onesrcline(table->lines, row), &address);
    return address;
}

bool pp_line_table_find(const pp_line_table *table, Dwarf_Addr address, pp_source_line *found)
{
    size_t lo = 0;
    size_t hi = table->count; /* the first row above the address */
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (address_of(table, middle) <= address) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    if (lo == 0 || lo == table->count) {
        return false; /* the last row is an end */
    }
    Dwarf_Line *row = dwarf_onesrcline(table->lines, lo - 1);
    Dwarf_Files *files = NULL;
    bool ends = true;
    int line = 0;
    if (dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineno(row, &line) != 0 ||
        dwarf_line_file(row, &files, &found->file) != 0) {
        return false;
    }
    unsigned discriminator = 0;
    dwarf_linediscriminator(row, &discriminator);
    found->line = line > 0 ? (uint32_t)line : 0;
    found->discriminator = discriminator;
    return pp_line_table_raw_file(table, found->file) != NULL;
}
