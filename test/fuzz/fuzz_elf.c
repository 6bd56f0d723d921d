/* SPDX-License-Identifier: MIT
 *
 * fuzz_elf.c: any bytes as an ELF image: everything that the reader and the name search can be
 * asked.
 *
 * Sources: src/sys/build_id.c src/symbol/elf.c src/symbol/names.c src/base/arena.c
 * Seeds: images of every kind that test/unit/elf_image.h makes, with two bytes for the addresses.
 */
#include "symbol/elf.h"
#include "symbol/names.h"
#include "sys/build_id.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESSES = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_reader(const uint8_t *data, size_t size)
{
    pp_elf elf;
    uint8_t id[PP_BUILD_ID_MAX], id_size;
    pp_note_build_id(data, size, size & 8, id, &id_size);
    if (pp_elf_open_image(&elf, data, size) != 0)
        return;
    pp_elf_symbols table;
    uint64_t start, limit;
    if (pp_elf_file_build_id(&elf, id, &id_size) && (id_size == 0 || id_size > PP_BUILD_ID_MAX))
        abort();
    if (pp_elf_symbols_by_section(&elf, SHT_SYMTAB, &table) && table.count < 2)
        abort();
    pp_elf_symbols_by_section(&elf, SHT_DYNSYM, &table);
    pp_elf_symbols_by_dynamic(&elf, &table);
    for (uint16_t i = 0; i < 100; i++) {
        if (pp_elf_section_range(&elf, i, &start, &limit) && limit < start)
            abort();
    }
    pp_elf_close(&elf);
}

/* The addresses start where the input says and are a page apart at most, as code is. */
static void ask_names(const uint8_t *data, size_t size)
{
    uintptr_t begin = (uintptr_t)data;
    pp_mapping mapping = {
        .start = begin, .limit = begin + size, .bias = begin, .path = "[vdso]", .in_memory = true};
    uint16_t first;
    memcpy(&first, data + size - sizeof(first), sizeof(first));
    uintptr_t addresses[ADDRESSES];
    for (uintptr_t i = 0; i < ADDRESSES; i++)
        addresses[i] = begin + (uintptr_t)first * 16 + i * (data[size - 1] + 1u);
    pp_symbol symbols[ADDRESSES];
    pp_arena arena = {NULL, false};
    size_t resolved = pp_symbols_resolve(&mapping, addresses, ADDRESSES, symbols, &arena);
    for (size_t i = 0; i < ADDRESSES; i++)
        resolved -= symbols[i].name != NULL && symbols[i].name[0] != '\0';
    if (resolved != 0)
        abort();
    pp_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ask_reader(data, size);
    if (size >= 2)
        ask_names(data, size);
    return 0;
}
