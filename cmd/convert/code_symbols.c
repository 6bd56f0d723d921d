/* SPDX-License-Identifier: MIT
 *
 * code_symbols.c: see code_symbols.h. BOLT's rules for names are those of RewriteInstance::discoverFileObjects() in
 * llvm-project, bolt/lib/Rewrite/RewriteInstance.cpp.
 *
 *   .symtab -> entries, by address -> numbers of those that are local -> functions
 *
 * Owns: the table and its names, for the length of a call.
 * Tested by: e2e.cpprof_fdata
 */
#include "convert/code_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct entry {
    Elf64_Sym symbol;
    const char *name;
    size_t place;    /* in the order of addresses; before that, in .symtab */
    unsigned number; /* of a local symbol */
} entry;

static unsigned type_of(const entry *e)
{
    return ELF64_ST_TYPE(e->symbol.st_info);
}

static bool is_function(const entry *e)
{
    return type_of(e) == STT_FUNC || type_of(e) == STT_GNU_IFUNC;
}

static bool is_local(const entry *e)
{
    return ELF64_ST_BIND(e->symbol.st_info) == STB_LOCAL;
}

/* ---- reading ---- */

static bool is_in_memory(const pp_elf *elf, const Elf64_Sym *symbol)
{
    Elf64_Shdr section;

    if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0 ||
        ELF64_ST_TYPE(symbol->st_info) == STT_FILE) {
        return false;
    }
    return symbol->st_shndx >= SHN_LORESERVE ||
           (pp_elf_section(elf, symbol->st_shndx, &section) && section.sh_flags & SHF_ALLOC);
}

/* Reads the symbols that are in memory, and the names, which the caller frees. Returns the number of symbols. */
static size_t read_entries(const pp_elf *elf, const pp_elf_symbols *table, entry *entries,
                           char *names)
{
    size_t kept = 0;
    size_t size = pp_elf_read_some(elf, table->names_offset, names, (size_t)table->names_size);

    for (uint64_t i = 0; i < table->count; i++) {
        Elf64_Sym symbol;
        uint64_t offset = table->offset + i * sizeof symbol;
        if (pp_elf_read(elf, offset, &symbol, sizeof symbol) && symbol.st_name < size &&
            names[symbol.st_name] && is_in_memory(elf, &symbol)) {
            entries[kept] = (entry){.symbol = symbol, .name = names + symbol.st_name};
            entries[kept].place = kept;
            kept++;
        }
    }
    return kept;
}

/* ---- numbers ---- */

/* Of symbols at one address, functions come first. */
static int by_address(const void *left, const void *right)
{
    const entry *a = left, *b = right;

    if (a->symbol.st_value != b->symbol.st_value) {
        return a->symbol.st_value < b->symbol.st_value ? -1 : 1;
    }
    if (is_function(a) != is_function(b)) {
        return is_function(a) ? -1 : 1;
    }
    return (a->place > b->place) - (a->place < b->place);
}

static int by_name(const void *left, const void *right)
{
    const entry *a = *(entry *const *)left, *b = *(entry *const *)right;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static void number_locals(entry *entries, size_t count)
{
    entry **locals = cp_heap_alloc(count + 1, sizeof(entry *));
    size_t local_count = 0;

    for (size_t i = 0; i < count; i++) {
        entries[i].place = i;
        if (is_local(&entries[i])) {
            locals[local_count++] = &entries[i];
        }
    }
    qsort(locals, local_count, sizeof(entry *), by_name);
    /* Not `locals[i - 1]->number + 1`: GCC 14 reads it for i = 0, too. */
    const char *last = "";
    unsigned number = 0;
    for (size_t i = 0; i < local_count; i++) {
        number = strcmp(last, locals[i]->name) == 0 ? number + 1 : 1;
        locals[i]->number = number;
        last = locals[i]->name;
    }
    free(locals);
}

/* ---- functions ---- */

static const char *name_of(const entry *e, cp_pool *pool)
{
    return is_local(e) ? cp_pool_printf(pool, "%s/%u", e->name, e->number)
                       : cp_pool_copy(pool, e->name, strlen(e->name));
}

/* Takes another symbol of the same address. */
static void take_alias(cp_code_symbol *function, const entry *e)
{
    uint64_t end = e->symbol.st_value + e->symbol.st_size;

    if (end > function->end) {
        function->end = end;
    }
}

/* Where the symbol's section ends; 0: it is in none. */
static uint64_t section_end(const pp_elf *elf, const Elf64_Sym *symbol)
{
    Elf64_Shdr section;

    return symbol->st_shndx < SHN_LORESERVE && pp_elf_section(elf, symbol->st_shndx, &section)
               ? section.sh_addr + section.sh_size
               : 0;
}

/* A function without a size ends with its section, or where the next one begins: after _init in .init are the stubs of
 * the procedure linkage table. */
static void end_sizeless(const pp_elf *elf, const entry *e, cp_code_symbol *function, uint64_t next)
{
    if (function->end == function->start) {
        uint64_t end = section_end(elf, &e->symbol);
        function->end = end < function->start ? function->start : end < next ? end : next;
    }
}

static void take_functions(const pp_elf *elf, const entry *entries, size_t count, cp_pool *pool,
                           cp_code_symbols *symbols)
{
    cp_code_symbol *last = NULL;
    const entry *entry_of_last = NULL;

    symbols->symbols = CP_POOL_ARRAY(pool, cp_code_symbol, count + 1);
    for (size_t i = 0; i < count; i++) {
        const entry *e = &entries[i];
        uint64_t start = e->symbol.st_value;

        if (!is_function(e) || start + e->symbol.st_size < start) {
            continue;
        }
        if (last && last->start == start) {
            take_alias(last, e);
        } else if (!last || start >= last->end) {
            if (last) {
                end_sizeless(elf, entry_of_last, last, start);
            }
            entry_of_last = e;
            last = &symbols->symbols[symbols->count++];
            *last = (cp_code_symbol){start, start + e->symbol.st_size, name_of(e, pool)};
        }
    }
    if (last) {
        end_sizeless(elf, entry_of_last, last, UINT64_MAX);
    }
}

int cp_code_symbols_read(const pp_elf *elf, cp_pool *pool, cp_code_symbols *symbols)
{
    pp_elf_symbols table;

    memset(symbols, 0, sizeof *symbols);
    if (!pp_elf_symbols_by_section(elf, SHT_SYMTAB, &table)) {
        return -ENODATA;
    }
    entry *entries = cp_heap_alloc((size_t)table.count + 1, sizeof *entries);
    char *names = cp_heap_alloc((size_t)table.names_size + 1, 1);
    size_t count = read_entries(elf, &table, entries, names);
    qsort(entries, count, sizeof *entries, by_address);
    number_locals(entries, count);
    take_functions(elf, entries, count, pool, symbols);
    free(names);
    free(entries);
    return symbols->count ? 0 : -ENODATA;
}

/* ---- the build ---- */

bool cp_code_is_build(const pp_elf *elf, const char *build_id)
{
    uint8_t id[PP_BUILD_ID_MAX], size = 0;
    char text[2 * PP_BUILD_ID_MAX + 1] = "";

    if (!pp_elf_file_build_id(elf, id, &size)) {
        size = 0;
    }
    for (size_t i = 0; i < size; i++) {
        snprintf(text + 2 * i, 3, "%02x", id[i]);
    }
    return strcasecmp(text, build_id) == 0;
}
