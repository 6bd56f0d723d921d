/* SPDX-License-Identifier: MIT
 *
 * attach_symbols.c: see attach_symbols.h.
 *
 * Tested by: e2e.cpprof_attach
 */
#include "remote/attach_symbols.h"

#include "arch/linkage.h"
#include "arch/registers.h"
#include "elf/elf.h"
#include "sys/safe_read.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_MAX = 64 << 20, CODE_PIECE = 64 * 1024 };

/* The first byte of an object's file is at its bias, unless it is linked to a fixed address. */
static bool open_object(pp_elf *elf, const pp_mapping *mapping)
{
    if (pp_elf_open_loaded(elf, mapping->memory, mapping->bias, mapping->bias) == 0) {
        return true;
    }
    return pp_elf_open_loaded(elf, mapping->memory, mapping->start - (uintptr_t)mapping->offset,
                              mapping->bias) == 0;
}

typedef struct table {
    Elf64_Sym *symbols;
    char *names;
    uint64_t count, names_size;
} table;

static bool read_table(const pp_elf *elf, table *t)
{
    pp_elf_symbols place;
    *t = (table){0};
    if (!pp_elf_symbols_by_dynamic(elf, &place) || place.count > TABLE_MAX / sizeof *t->symbols ||
        place.names_size > TABLE_MAX || place.count == 0 || place.names_size == 0) {
        return false;
    }
    t->count = place.count;
    t->names_size = place.names_size;
    t->symbols = malloc(t->count * sizeof *t->symbols);
    t->names = malloc(t->names_size);
    return t->symbols != NULL && t->names != NULL &&
           pp_elf_read(elf, place.offset, t->symbols, t->count * sizeof *t->symbols) &&
           pp_elf_read(elf, place.names_offset, t->names, t->names_size);
}

static uintptr_t find_symbol(const table *t, const char *name)
{
    size_t length = strlen(name) + 1;
    for (uint64_t i = 0; i < t->count; i++) {
        const Elf64_Sym *s = &t->symbols[i];
        if (s->st_shndx != SHN_UNDEF && s->st_value != 0 && s->st_name < t->names_size &&
            t->names_size - s->st_name >= length &&
            memcmp(t->names + s->st_name, name, length) == 0) {
            return s->st_value;
        }
    }
    return 0;
}

uintptr_t pp_target_symbol(const pp_mapping *mapping, const char *name)
{
    pp_elf elf;
    table t;
    uintptr_t value = 0;
    if (mapping->path[0] != '/' || !open_object(&elf, mapping)) {
        return 0;
    }
    if (read_table(&elf, &t)) {
        value = find_symbol(&t, name);
    }
    free(t.symbols);
    free(t.names);
    pp_elf_close(&elf);
    return value != 0 ? mapping->bias + value : 0;
}

/* ---- variables that each thread has ---- */

/* Looks through a table of relocations for one that holds the place of a variable of the object's
 * own, from the thread pointer: the loader has added the place of the object's block to its addend. */
static bool find_block(const pp_elf *elf, uint64_t offset, uint64_t count, uintptr_t bias,
                       uintptr_t *block)
{
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Rela r;
        uint64_t filled_in = 0;
        if (!pp_elf_read(elf, offset + i * sizeof r, &r, sizeof r)) {
            return false;
        }
        if (ELF64_R_TYPE(r.r_info) == PP_RELOCATION_THREAD_OFFSET && ELF64_R_SYM(r.r_info) == 0 &&
            pp_memory_copy(elf->memory, &filled_in, bias + r.r_offset, sizeof filled_in)) {
            *block = (uintptr_t)filled_in - (uintptr_t)r.r_addend;
            return true;
        }
    }
    return false;
}

static bool block_of(const pp_mapping *mapping, uintptr_t *block)
{
    pp_elf elf;
    pp_elf_relocations relocations;
    bool found = false;
    if (!open_object(&elf, mapping)) {
        return false;
    }
    if (pp_elf_relocations_find(&elf, &relocations)) {
        for (unsigned i = 0; i < 2 && !found; i++) {
            found = find_block(&elf, relocations.part[i].offset, relocations.part[i].count,
                               mapping->bias, block);
        }
    }
    pp_elf_close(&elf);
    return found;
}

uintptr_t pp_target_thread_variable(const pp_profile *objects, const char *name,
                                    uintptr_t thread_pointer)
{
    for (size_t i = 0; i < objects->mapping_count; i++) {
        const pp_mapping *m = &objects->mappings[i];
        uintptr_t block = 0;
        uintptr_t symbol = (m->code_of & PP_CODE_OF_LIBC) != 0 ? pp_target_symbol(m, name) : 0;
        if (symbol != 0 && block_of(m, &block)) {
            return thread_pointer + block + (symbol - m->bias);
        }
    }
    return 0;
}

/* ---- code ---- */

static uintptr_t find_restorer(const pp_memory *memory, uintptr_t start, uintptr_t limit)
{
    static uint8_t code[CODE_PIECE];
    while (start < limit) {
        size_t size = limit - start < CODE_PIECE ? limit - start : CODE_PIECE;
        size_t got = pp_memory_copy_part(memory, code, start, size);
        const uint8_t *at =
            got > 0 ? memmem(code, got, pp_signal_restorer, sizeof pp_signal_restorer) : NULL;
        if (at != NULL) {
            return start + (uintptr_t)(at - code);
        }
        if (got < CODE_PIECE) {
            return 0;
        }
        start += CODE_PIECE - sizeof pp_signal_restorer;
    }
    return 0;
}

uintptr_t pp_target_restorer(const pp_profile *objects)
{
    uintptr_t found = 0;
    for (size_t i = 0; i < objects->mapping_count && found == 0; i++) {
        const pp_mapping *m = &objects->mappings[i];
        if ((m->code_of & PP_CODE_OF_LIBC) != 0 || strcmp(m->path, "[vdso]") == 0) {
            found = find_restorer(m->memory, m->start, m->limit);
        }
    }
    return found;
}
