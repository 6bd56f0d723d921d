/* SPDX-License-Identifier: MIT
 *
 * line_table.c: rows in ascending order of their addresses, as libdw sorts them.
 *
 *   [0x10 a.c:5][0x18 a.c:6][0x20 a.c:6][0x28 end] ... [0x90 a.c:1][0x99 end]
 *
 * A row covers the addresses up to the next one's; an end covers nothing. Of several rows at one address the last one
 * holds. (dwarf_getsrc_die() does the same, but ends the process where a table does not end as it should.)
 *
 * Locks: none.
 * Owns: nothing.
 */
#include "dwarf/line_table.h"

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
}

static Dwarf_Addr address_of(const pp_line_table *table, size_t row)
{
    Dwarf_Addr address = 0;
    dwarf_lineaddr(dwarf_onesrcline(table->lines, row), &address);
    return address;
}

bool pp_line_table_find(const pp_line_table *table, Dwarf_Addr address, const char **file,
                        uint32_t *line)
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
    bool ends = true;
    int number = 0;
    if (dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineno(row, &number) != 0) {
        return false;
    }
    *file = dwarf_linesrc(row, NULL, NULL);
    *line = number > 0 ? (uint32_t)number : 0;
    return *file != NULL;
}

const char *pp_line_table_file(const pp_line_table *table, uint64_t number)
{
    return number < table->file_count ? dwarf_filesrc(table->files, (size_t)number, NULL, NULL)
                                      : NULL;
}
