/* SPDX-License-Identifier: MIT
 *
 * function_symbols.h: goes through the functions that a file's symbol table names, to find those of
 * certain names.
 *
 * Zone: NORMAL.
 */
#ifndef PP_SYMBOL_FUNCTION_SYMBOLS_H
#define PP_SYMBOL_FUNCTION_SYMBOLS_H

#include <stdint.h>

/* `start` is an address of the running program; `size` may be 0. */
typedef void pp_function_symbol_visit(const char *name, uintptr_t start, uint64_t size,
                                      void *context);

/*
 * Calls `visit` for each function that the file at `path` defines, by its table of all symbols, or,
 * if it has none, by that of its dynamic ones. `bias`: where the file is loaded. Does nothing if
 * `part` is in none of their names, which is quick to see.
 */
void pp_function_symbols_each(const char *path, uintptr_t bias, const char *part,
                              pp_function_symbol_visit *visit, void *context);

#endif
