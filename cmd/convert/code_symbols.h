/* SPDX-License-Identifier: MIT
 *
 * code_symbols.h: the functions of a program's file, by the names that BOLT gives them.
 *
 * BOLT tells local symbols of one name apart by a number: f/1, f/2, ... in the order of their addresses. A global
 * symbol has its own name. A symbol inside of a function is an entry of that function, not a function.
 *
 * Owns: nothing; what is found is in the caller's pool.
 */
#ifndef CP_CODE_SYMBOLS_H
#define CP_CODE_SYMBOLS_H

#include "base/pool.h"

#include "src/elf/elf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_code_symbol {
    uint64_t start, end; /* [start, end), as in the file */
    const char *name;
} cp_code_symbol;

typedef struct cp_code_symbols {
    cp_code_symbol *symbols; /* by address */
    size_t count;
} cp_code_symbols;

/* Reads .symtab. Returns 0, or -ENODATA if the file has none. What is damaged is left out. */
int cp_code_symbols_read(const pp_elf *elf, cp_pool *pool, cp_code_symbols *symbols);

/* Whether the file has that build id, in hexadecimal digits; "": none. */
bool cp_code_is_build(const pp_elf *elf, const char *build_id);

#endif
