/* SPDX-License-Identifier: MIT
 *
 * debug_copy.c: measures the wanted sections, then reads each into the copy.
 *
 * Owns: nothing.
 */
#include "dwarf/debug_copy.h"

#include "dwarf/section.h"

#include <errno.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { ALIGNMENT = 16 };

/* Whether libdw needs the section for units, functions, lines and their names. Location lists,
 * frames and macros, which it does not need, would double the copy. */
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

/* Returns "line" for ".debug_line", and "" for a name without the prefix. The prefix .zdebug_ is of
 * compressed sections from before ELF had a flag for them. */
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

static bool has_contents(const Elf64_Shdr *header)
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
    uint64_t file_size, most_bytes;
    size_t names; /* index of the section with the sections' names */
    size_t count;
    Elf64_Shdr *headers; /* of the copy; as in the file until the section is copied */
    uint8_t *memory;
    size_t bytes; /* so far */
} maker;

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static bool is_copied(const maker *m, size_t index)
{
    const Elf64_Shdr *header = &m->headers[index];
    const char *name = elf_strptr(m->file, m->names, header->sh_name);
    if (!has_contents(header)) {
        return false;
    }
    return index == m->names || is_wanted_part(debug_part(name)) ||
           (name != NULL && strcmp(name, ".gnu_debugaltlink") == 0);
}

/* The headers are read only once: the file may change meanwhile. */
static int read_headers(maker *m)
{
    GElf_Ehdr header;
    if (gelf_getehdr(m->file, &header) == NULL || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shoff > m->file_size ||
        m->count > (m->file_size - header.e_shoff) / sizeof(Elf64_Shdr)) {
        return -ENOEXEC;
    }
    m->headers = calloc(m->count, sizeof *m->headers);
    if (m->headers == NULL) {
        return -ENOMEM;
    }
    return pp_section_read_at(m->fd, m->headers, m->count * sizeof *m->headers, header.e_shoff);
}

/* Adds up the memory that the copy takes. */
static int measure(const maker *m, size_t *bytes)
{
    uint64_t total = aligned(sizeof(Elf64_Ehdr)) + aligned(m->count * sizeof *m->headers);
    if (total > m->most_bytes) {
        return -EFBIG;
    }
    for (size_t i = 1; i < m->count; i++) {
        const Elf64_Shdr *header = &m->headers[i];
        if (!is_copied(m, i)) {
            continue;
        }
        if (header->sh_offset > m->file_size ||
            header->sh_size > m->file_size - header->sh_offset) {
            return -ENOEXEC;
        }
        uint64_t size = 0;
        int error = pp_section_size(m->fd, header, &size);
        if (error != 0) {
            return error;
        }
        if (size > m->most_bytes - total) {
            return -EFBIG;
        }
        total += aligned((size_t)size);
        if (total > m->most_bytes) {
            return -EFBIG;
        }
    }
    *bytes = (size_t)total;
    return 0;
}

static int copy_section(maker *m, Elf64_Shdr *header, size_t room)
{
    uint64_t size = 0;
    int error = pp_section_size(m->fd, header, &size);
    if (error == 0 && size > room - m->bytes) {
        error = -EIO; /* the section has grown since it was measured */
    }
    if (error == 0) {
        error = pp_section_read(m->fd, header, size, m->memory + m->bytes);
    }
    header->sh_offset = m->bytes;
    m->bytes += aligned((size_t)size);
    return error;
}

static int copy_all(maker *m, size_t room)
{
    Elf64_Ehdr *elf_header = (Elf64_Ehdr *)(void *)m->memory;
    size_t headers_at = aligned(sizeof *elf_header);
    size_t headers_size = m->count * sizeof *m->headers;
    int error = pp_section_read_at(m->fd, elf_header, sizeof *elf_header, 0);
    m->bytes = headers_at + aligned(headers_size);
    for (size_t i = 1; error == 0 && i < m->count; i++) {
        if (is_copied(m, i)) {
            error = copy_section(m, &m->headers[i], room);
        } else {
            m->headers[i].sh_type = SHT_NOBITS;
        }
    }
    elf_header->e_phoff = 0;
    elf_header->e_phnum = 0;
    elf_header->e_shoff = headers_at;
    memcpy(m->memory + headers_at, m->headers, headers_size);
    return error;
}

static bool is_ours(Elf *file)
{
    const char *ident = elf_getident(file, NULL);
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    return elf_kind(file) == ELF_K_ELF && ident != NULL && ident[EI_CLASS] == ELFCLASS64 &&
           ident[EI_DATA] == (little ? ELFDATA2LSB : ELFDATA2MSB);
}

static int make(maker *m, pp_debug_copy *copy)
{
    size_t bytes = 0;
    int error = read_headers(m);
    if (error == 0) {
        error = measure(m, &bytes);
    }
    if (error != 0) {
        return error;
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return -ENOMEM;
    }
    m->memory = memory;
    *copy = (pp_debug_copy){.memory = memory, .bytes = bytes};
    error = copy_all(m, bytes);
    if (error == 0) {
        copy->elf = elf_memory(memory, bytes);
        error = copy->elf != NULL ? 0 : -ENOEXEC;
    }
    return error;
}

int pp_debug_copy_make(Elf *file, int fd, uint64_t most_bytes, pp_debug_copy *copy)
{
    maker m = {.file = file, .fd = fd};
    m.most_bytes = most_bytes != 0 ? most_bytes : PP_DEBUG_COPY_MAX;
    *copy = (pp_debug_copy){0};
    if (!is_ours(file) || elf_getshdrstrndx(file, &m.names) != 0 ||
        elf_getshdrnum(file, &m.count) != 0) {
        return -ENOEXEC;
    }
    if (!pp_debug_copy_has_lines(file)) {
        return -ENOENT;
    }
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return -errno;
    }
    m.file_size = (uint64_t)status.st_size;
    int error = make(&m, copy);
    free(m.headers);
    if (error != 0) {
        pp_debug_copy_release(copy);
    }
    return error;
}

void pp_debug_copy_release(pp_debug_copy *copy)
{
    elf_end(copy->elf); /* NULL is allowed */
    if (copy->memory != NULL) {
        munmap(copy->memory, copy->bytes);
    }
    *copy = (pp_debug_copy){0};
}
