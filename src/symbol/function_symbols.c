/* SPDX-License-Identifier: MIT
 *
 * function_symbols.c: see the header.
 *
 * Zone: NORMAL.
 * Tested by: e2e.jemalloc_samples
 */
#include "symbol/function_symbols.h"

#include "base/arena.h"
#include "elf/elf.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    MOST_NAMES = 256 << 20, /* bytes of names: a file with more is not read */
    SYMBOLS_AT_ONCE = 256
};

/* NULL: there are none, no memory, or `part` is in none. The last byte is NUL. */
static const char *read_names(const pp_elf *elf, const pp_elf_symbols *table, const char *part,
                              pp_arena *arena)
{
    uint64_t size = table->names_size;
    char *names = size > 0 && size < MOST_NAMES ? pp_arena_array(arena, size, 1) : NULL;
    if (names == NULL || !pp_elf_read(elf, table->names_offset, names, size)) {
        return NULL;
    }
    names[size - 1] = '\0';
    return memmem(names, size, part, strlen(part)) != NULL ? names : NULL;
}

static bool is_function(const Elf64_Sym *symbol, const pp_elf_symbols *table)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_name < table->names_size;
}

static void visit_all(const pp_elf *elf, const pp_elf_symbols *table, const char *names,
                      uintptr_t bias, pp_function_symbol_visit *visit, void *context)
{
    Elf64_Sym symbols[SYMBOLS_AT_ONCE];
    for (uint64_t at = 0; at < table->count;) {
        uint64_t count = table->count - at;
        count = count < SYMBOLS_AT_ONCE ? count : SYMBOLS_AT_ONCE;
        if (!pp_elf_read(elf, table->offset + at * sizeof *symbols, symbols,
                         count * sizeof *symbols)) {
            return;
        }
        for (uint64_t i = 0; i < count; i++) {
            if (is_function(&symbols[i], table)) {
                visit(names + symbols[i].st_name, bias + symbols[i].st_value, symbols[i].st_size,
                      context);
            }
        }
        at += count;
    }
}

void pp_function_symbols_each(const char *path, uintptr_t bias, const char *part,
                              pp_function_symbol_visit *visit, void *context)
{
    pp_elf elf;
    pp_elf_symbols table;
    pp_arena arena = PP_ARENA_INIT;
    if (pp_elf_open(&elf, NULL, path) != 0) {
        return;
    }
    if (pp_elf_symbols_by_section(&elf, SHT_SYMTAB, &table) ||
        pp_elf_symbols_by_section(&elf, SHT_DYNSYM, &table)) {
        const char *names = read_names(&elf, &table, part, &arena);
        if (names != NULL) {
            visit_all(&elf, &table, names, bias, visit, context);
        }
    }
    pp_elf_close(&elf);
    pp_arena_release(&arena);
}
