/* SPDX-License-Identifier: MIT
 *
 * split_file.c: see split_file.h.
 *
 * The index (DWARF 5, 7.3.5.3) is a hash table: ids, then a row number for each id, then rows of
 * offsets and rows of sizes, with a column for each section. Here the ids are searched one after
 * the other: a program has thousands, and each is asked for once.
 *
 * Owns: nothing.
 */
#include "dwarf/split_file.h"

#include "dwarf/section.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

static int section_named(const char *name)
{
    static const char *const names[PP_SPLIT_SECTIONS] = {
        [PP_SPLIT_INFO] = ".debug_info.dwo",
        [PP_SPLIT_ABBREV] = ".debug_abbrev.dwo",
        [PP_SPLIT_STR] = ".debug_str.dwo",
        [PP_SPLIT_STR_OFFSETS] = ".debug_str_offsets.dwo",
        [PP_SPLIT_RNGLISTS] = ".debug_rnglists.dwo",
        [PP_SPLIT_INDEX] = ".debug_cu_index",
    };
    for (int i = 0; name != NULL && i < PP_SPLIT_SECTIONS; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static int read_section(int fd, Elf64_Shdr *header, uint64_t *most_bytes, pp_bytes *section)
{
    uint64_t size = 0;
    int error = pp_section_size(fd, header, &size);
    if (error != 0 || size == 0 || section->data != NULL) {
        return error;
    }
    if (size > *most_bytes) {
        return -EFBIG;
    }
    uint8_t *data = malloc((size_t)size);
    if (data == NULL) {
        return -ENOMEM;
    }
    *most_bytes -= size;
    *section = (pp_bytes){data, (size_t)size};
    return pp_section_read(fd, header, size, data);
}

static int read_sections(Elf *elf, int fd, uint64_t most_bytes, pp_split_file *file)
{
    size_t names = 0;
    int error = elf_getshdrstrndx(elf, &names) == 0 ? 0 : -ENOEXEC;
    for (Elf_Scn *at = NULL; error == 0 && (at = elf_nextscn(elf, at)) != NULL;) {
        const Elf64_Shdr *header = elf64_getshdr(at);
        int which = header != NULL && header->sh_type != SHT_NOBITS
                        ? section_named(elf_strptr(elf, names, header->sh_name))
                        : -1;
        if (which >= 0) {
            Elf64_Shdr copy = *header;
            error = read_section(fd, &copy, &most_bytes, &file->section[which]);
        }
    }
    return error;
}

int pp_split_file_open(const pprof_dwarf_host *host, const char *path, uint64_t most_bytes,
                       pp_split_file *file)
{
    *file = (pp_split_file){0};
    int fd = host->open(host->context, path);
    if (fd < 0) {
        return fd;
    }
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    int error = -ENOEXEC;
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64) {
        error = read_sections(elf, fd, most_bytes, file);
    }
    elf_end(elf);
    host->close(host->context, fd);
    if (error == 0 && file->section[PP_SPLIT_INFO].size == 0) {
        error = -ENOEXEC;
    }
    if (error != 0) {
        pp_split_file_release(file);
    }
    return error;
}

void pp_split_file_release(pp_split_file *file)
{
    for (int i = 0; i < PP_SPLIT_SECTIONS; i++) {
        free((void *)file->section[i].data);
    }
    *file = (pp_split_file){0};
}

/* ---- the index ---- */

typedef struct index_table {
    pp_bytes bytes;
    uint64_t version, columns, rows, slots;
} index_table;

static bool read_index(pp_bytes bytes, index_table *index)
{
    pp_bytes_reader in = {bytes, 0, false};
    *index = (index_table){.bytes = bytes};
    index->version = pp_bytes_number(&in, 2); /* DWARF 5: of 2 bytes, and 2 bytes of padding */
    pp_bytes_skip(&in, 2);
    index->columns = pp_bytes_number(&in, 4);
    index->rows = pp_bytes_number(&in, 4);
    index->slots = pp_bytes_number(&in, 4);
    return !in.failed && (index->version == 2 || index->version == 5);
}

static uint64_t number_at(const index_table *index, uint64_t at, size_t size)
{
    pp_bytes_reader in = {pp_bytes_part(index->bytes, at, size), 0, false};
    return pp_bytes_number(&in, size);
}

enum { HEADER = 16 };

/* The row of an id, from 1; 0 if there is none. */
static uint64_t row_of(const index_table *index, uint64_t id)
{
    for (uint64_t i = 0; i < index->slots && HEADER + i * 8 < index->bytes.size; i++) {
        uint64_t row = number_at(index, HEADER + index->slots * 8 + i * 4, 4);
        if (row != 0 && number_at(index, HEADER + i * 8, 8) == id) {
            return row <= index->rows ? row : 0;
        }
    }
    return 0;
}

static int section_of_column(const index_table *index, uint64_t number)
{
    switch (number) {
    case 1:
        return PP_SPLIT_INFO;
    case 3:
        return PP_SPLIT_ABBREV;
    case 6:
        return PP_SPLIT_STR_OFFSETS;
    case 8:
        return index->version == 5 ? PP_SPLIT_RNGLISTS : -1; /* in version 2: macros */
    default:
        return -1;
    }
}

static void take_parts(const pp_split_file *file, const index_table *index, uint64_t row,
                       pp_bytes parts[PP_SPLIT_SECTIONS])
{
    uint64_t numbers = HEADER + index->slots * 12;
    uint64_t offsets = numbers + index->columns * 4;
    uint64_t sizes = offsets + index->rows * index->columns * 4;
    for (uint64_t i = 0; i < index->columns && numbers + i * 4 < index->bytes.size; i++) {
        int which = section_of_column(index, number_at(index, numbers + i * 4, 4));
        uint64_t cell = ((row - 1) * index->columns + i) * 4;
        if (which >= 0) {
            parts[which] = pp_bytes_part(file->section[which], number_at(index, offsets + cell, 4),
                                         number_at(index, sizes + cell, 4));
        }
    }
}

bool pp_split_file_find(const pp_split_file *file, uint64_t id, pp_bytes parts[PP_SPLIT_SECTIONS])
{
    index_table index;
    memcpy(parts, file->section, sizeof file->section);
    if (file->section[PP_SPLIT_INDEX].size == 0) {
        return true;
    }
    uint64_t row = read_index(file->section[PP_SPLIT_INDEX], &index) ? row_of(&index, id) : 0;
    if (row == 0) {
        return false;
    }
    take_parts(file, &index, row, parts);
    return true;
}
