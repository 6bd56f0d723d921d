/* SPDX-License-Identifier: MIT
 *
 * symbols.h: the functions in the symbol tables of a file: .symtab, .dynsym, and the .symtab in
 * .gnu_debugdata (mini-debuginfo: a small ELF file that xz has compressed).
 *
 * Only cpprof asks for them. libpprof has its own reader, which allocates nothing.
 *
 * Owns: the names, until release.
 * Tested by: e2e.lines_symbols
 */
#ifndef PP_DWARF_SYMBOLS_H
#define PP_DWARF_SYMBOLS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct pp_function_symbol {
    Dwarf_Addr start, end; /* [start, end) */
    const char *name;
    int rank;      /* of several names of a place, the one with the largest is taken */
    bool has_size; /* else it ends with its section, or where the next one begins */
} pp_function_symbol;

typedef struct pp_symbols {
    pp_function_symbol *symbol; /* by start, after pp_symbols_sort() */
    size_t count, room;
    char *text[8]; /* copies of the tables of names */
    size_t texts;
} pp_symbols;

/* Whether the file has a table of all functions: .symtab or .gnu_debugdata, not only .dynsym. */
bool pp_symbols_are_whole(Elf *file);

/* Adds the symbols of a file. What is damaged or does not fit is left out. */
void pp_symbols_read(pp_symbols *symbols, Elf *file);
void pp_symbols_sort(pp_symbols *symbols);

/* The symbol of the function with this address, or NULL. */
const pp_function_symbol *pp_symbols_find(const pp_symbols *symbols, Dwarf_Addr address);

void pp_symbols_release(pp_symbols *symbols);

#endif
