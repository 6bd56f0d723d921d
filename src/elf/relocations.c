/* SPDX-License-Identifier: MIT
 *
 * relocations.c: reads the tables through a window, and names by their offsets.
 *
 * Zone: NORMAL, and the fatal-signal writer (pread only).
 * Tested by: unit.places, e2e.stripped_names
 */
#include "elf/relocations.h"

#include <string.h>

enum { WINDOW_RELOCATIONS = 256 /* 6 KiB of the table in one read */, NAME_SIZE = 4096 };

static void each_of_part(const pp_elf *elf, uint64_t offset, uint64_t count, bool numbered,
                         pp_relocation_use *use, void *context, Elf64_Rela *window)
{
    for (uint64_t done = 0, size; done < count; done += size) {
        size = count - done < WINDOW_RELOCATIONS ? count - done : WINDOW_RELOCATIONS;
        if (!pp_elf_read(elf, offset + done * sizeof(*window), window, size * sizeof(*window))) {
            return;
        }
        for (uint64_t i = 0; i < size; i++) {
            use(context, &window[i], numbered ? done + i : UINT64_MAX);
        }
    }
}

void pp_relocations_each(const pp_elf *elf, pp_relocation_use *use, void *context,
                         pp_arena *scratch)
{
    pp_elf_relocations all;
    if (!pp_elf_relocations_find(elf, &all)) {
        return;
    }
    Elf64_Rela *window = pp_arena_array(scratch, WINDOW_RELOCATIONS, sizeof(*window));
    if (window == NULL) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        each_of_part(elf, all.part[i].offset, all.part[i].count, i == 0, use, context, window);
    }
}

bool pp_relocations_symbols(const pp_elf *elf, pp_elf_symbols *symbols)
{
    return pp_elf_symbols_by_section(elf, SHT_DYNSYM, symbols) ||
           pp_elf_symbols_by_dynamic(elf, symbols);
}

const char *pp_relocations_name(const pp_elf *elf, const pp_elf_symbols *symbols, uint32_t offset,
                                pp_arena *arena)
{
    char first[64]; /* nearly all names fit */
    if (offset == 0 || offset >= symbols->names_size) {
        return NULL;
    }
    uint64_t left = symbols->names_size - offset;
    uint64_t at = symbols->names_offset + offset;
    size_t got = pp_elf_read_some(elf, at, first, left < sizeof(first) ? left : sizeof(first));
    size_t length = strnlen(first, got);
    if (length < got) {
        return length > 0 ? pp_arena_text(arena, first, length) : NULL;
    }
    char *name = pp_arena_alloc(arena, NAME_SIZE);
    if (name == NULL) {
        return NULL;
    }
    got = pp_elf_read_some(elf, at, name, left < NAME_SIZE ? left : NAME_SIZE);
    return strnlen(name, got) < got ? name : NULL;
}

const char *pp_relocations_symbol_name(const pp_elf *elf, const pp_elf_symbols *symbols,
                                       const Elf64_Rela *relocation, pp_arena *arena)
{
    Elf64_Sym symbol;
    uint64_t index = ELF64_R_SYM(relocation->r_info);
    if (index == 0 || index >= symbols->count ||
        !pp_elf_read(elf, symbols->offset + index * sizeof(symbol), &symbol, sizeof(symbol))) {
        return NULL;
    }
    return pp_relocations_name(elf, symbols, symbol.st_name, arena);
}
