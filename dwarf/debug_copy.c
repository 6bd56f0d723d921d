/* SPDX-License-Identifier: MIT
 *
 * debug_copy.c: which sections, how large, then one read each.
 *
 * Locks: none.
 * Owns: nothing; see the header.
 */
#include "dwarf/debug_copy.h"

#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNMENT = 16 };

/* What libdw looks into for units, functions, lines and their names. Location lists, frames and macros are as
 * large again. */
static bool is_wanted_part(const char *name)
{
    static const char *const parts[] = {"info", "types",       "abbrev", "line",   "line_str",
                                        "str",  "str_offsets", "addr",   "ranges", "rnglists"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(name, parts[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* "line" of ".debug_line"; "" of another name. .zdebug_ is what compressed sections were called before ELF had a flag
 * for them. */
static const char *debug_part(const char *name)
{
    static const char *const prefixes[] = {".debug_", ".zdebug_"};
    for (size_t i = 0; name != NULL && i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], length) == 0) {
            return name + length;
        }
    }
    return "";
}

static bool has_contents(const GElf_Shdr *header)
{
    return header->sh_type != SHT_NULL && header->sh_type != SHT_NOBITS && header->sh_size > 0;
}

bool pp_debug_copy_has_lines(Elf *file)
{
    size_t names = 0;
    bool info = false;
    bool line = false;
    if (elf_getshdrstrndx(file, &names) != 0) {
        return false;
    }
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || !has_contents(&header)) {
            continue;
        }
        const char *part = debug_part(elf_strptr(file, names, header.sh_name));
        info |= strcmp(part, "info") == 0;
        line |= strcmp(part, "line") == 0;
    }
    return info && line;
}

/* ---- making ---- */

typedef struct maker {
    Elf *file;
    int fd;
    uint64_t file_size;
    size_t names; /* index of the section of the sections' names */
    size_t count;
    uint8_t *memory;
    size_t bytes; /* so far */
} maker;

static int read_at(int fd, void *to, size_t size, uint64_t offset)
{
    char *at = to;
    while (size > 0) {
        ssize_t got = pread(fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? -errno : -EIO; /* the file has become shorter */
        }
        at += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return 0;
}

/* The uncompressed size, where the section says so itself; what libelf allocates for it. */
static size_t uncompressed_size(Elf_Scn *section, const GElf_Shdr *header)
{
    GElf_Chdr compression;
    if ((header->sh_flags & SHF_COMPRESSED) == 0 || gelf_getchdr(section, &compression) == NULL) {
        return 0;
    }
    return compression.ch_size < PP_DEBUG_COPY_MAX ? (size_t)compression.ch_size
                                                   : PP_DEBUG_COPY_MAX;
}

static bool is_copied(const maker *m, size_t index, const GElf_Shdr *header)
{
    const char *name = elf_strptr(m->file, m->names, header->sh_name);
    return has_contents(header) && (index == m->names || is_wanted_part(debug_part(name)) ||
                                    (name != NULL && strcmp(name, ".gnu_debugaltlink") == 0));
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* How much memory the copy takes; libelf's for uncompressed sections counts for the limit, too. */
static int measure(maker *m, size_t *bytes)
{
    size_t total = aligned(sizeof(Elf64_Ehdr)) + aligned(m->count * sizeof(Elf64_Shdr));
    size_t uncompressed = 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(m->file, section)) != NULL;) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL) {
            return -ENOEXEC;
        }
        if (!is_copied(m, elf_ndxscn(section), &header)) {
            continue;
        }
        if (header.sh_offset > m->file_size || header.sh_size > m->file_size - header.sh_offset) {
            return -ENOEXEC;
        }
        if (header.sh_size > PP_DEBUG_COPY_MAX) {
            return -EFBIG;
        }
        total += aligned((size_t)header.sh_size);
        uncompressed += uncompressed_size(section, &header);
        if (total + uncompressed > PP_DEBUG_COPY_MAX) {
            return -EFBIG;
        }
    }
    *bytes = total;
    return 0;
}

static int copy_section(maker *m, Elf64_Shdr *header)
{
    uint64_t from = header->sh_offset;
    size_t size = (size_t)header->sh_size;
    header->sh_offset = m->bytes;
    m->bytes += aligned(size);
    return read_at(m->fd, m->memory + header->sh_offset, size, from);
}

static int copy_all(maker *m)
{
    Elf64_Ehdr *elf_header = (Elf64_Ehdr *)(void *)m->memory;
    Elf64_Shdr *headers = (Elf64_Shdr *)(void *)(m->memory + aligned(sizeof *elf_header));
    int error = read_at(m->fd, elf_header, sizeof *elf_header, 0);
    if (error == 0 && (elf_header->e_shoff > m->file_size ||
                       m->count * sizeof *headers > m->file_size - elf_header->e_shoff)) {
        error = -ENOEXEC;
    }
    if (error == 0) {
        error = read_at(m->fd, headers, m->count * sizeof *headers, elf_header->e_shoff);
    }
    elf_header->e_phoff = 0;
    elf_header->e_phnum = 0;
    elf_header->e_shoff = (uint64_t)((uint8_t *)headers - m->memory);
    m->bytes = aligned(sizeof *elf_header) + aligned(m->count * sizeof *headers);
    for (size_t i = 1; error == 0 && i < m->count; i++) {
        GElf_Shdr header;
        Elf_Scn *section = elf_getscn(m->file, i);
        if (gelf_getshdr(section, &header) != NULL && is_copied(m, i, &header)) {
            headers[i].sh_offset =
                header.sh_offset; /* as it was measured: the file may be written to */
            headers[i].sh_size = header.sh_size;
            error = copy_section(m, &headers[i]);
        } else {
            headers[i].sh_type = SHT_NOBITS;
        }
    }
    return error;
}

/* elf_memory() knows the header by its first bytes alone. */
static bool is_ours(Elf *file)
{
    const char *ident = elf_getident(file, NULL);
    GElf_Ehdr header;
    return elf_kind(file) == ELF_K_ELF && ident != NULL && ident[EI_CLASS] == ELFCLASS64 &&
           ident[EI_DATA] ==
               (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB) &&
           gelf_getehdr(file, &header) != NULL && header.e_shentsize == sizeof(Elf64_Shdr);
}

int pp_debug_copy_make(Elf *file, int fd, pp_debug_copy *copy)
{
    maker m = {.file = file, .fd = fd};
    struct stat status;
    size_t bytes = 0;
    *copy = (pp_debug_copy){0};
    if (!is_ours(file) || elf_getshdrstrndx(file, &m.names) != 0 ||
        elf_getshdrnum(file, &m.count) != 0) {
        return -ENOEXEC;
    }
    if (!pp_debug_copy_has_lines(file)) {
        return -ENOENT;
    }
    if (fstat(fd, &status) != 0) {
        return -errno;
    }
    m.file_size = (uint64_t)status.st_size;
    int error = measure(&m, &bytes);
    if (error != 0) {
        return error;
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return -ENOMEM;
    }
    m.memory = memory;
    error = copy_all(&m);
    *copy = (pp_debug_copy){.memory = memory, .bytes = bytes};
    if (error == 0) {
        copy->elf = elf_memory(memory, bytes);
        error = copy->elf != NULL ? 0 : -ENOEXEC;
    }
    if (error != 0) {
        pp_debug_copy_release(copy);
    }
    return error;
}

void pp_debug_copy_release(pp_debug_copy *copy)
{
    elf_end(copy->elf); /* NULL is nothing */
    if (copy->memory != NULL) {
        munmap(copy->memory, copy->bytes);
    }
    *copy = (pp_debug_copy){0};
}
