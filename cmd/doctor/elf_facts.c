/* SPDX-License-Identifier: MIT
 *
 * elf_facts.c: see elf_facts.h. The format is that of the System V ABI, in elf.h's words.
 *
 * A file may be damaged, or made to be: all that is read of it lies in its mapping.
 *
 * Owns: the mapping of one file, during a call.
 * Tested by: unit.cmd_elf_facts
 */
#include "doctor/elf_facts.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct image {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections; /* NULL: none */
} image;

/* The part of the file, or NULL if it is not all there. */
static const void *part(const image *file, uint64_t offset, uint64_t size)
{
    bool inside = offset <= file->size && size <= file->size - offset;

    return inside && offset % 8 == 0 ? file->bytes + offset : NULL;
}

/* The text at an offset of a section, or "" if it does not end there. */
static const char *text_at(const image *file, uint32_t section, uint64_t offset)
{
    if (!file->sections || section >= file->header->e_shnum) {
        return "";
    }
    const Elf64_Shdr *strings = &file->sections[section];
    if (offset >= strings->sh_size || strings->sh_offset > file->size ||
        strings->sh_size > file->size - strings->sh_offset) {
        return "";
    }
    const char *text = (const char *)file->bytes + strings->sh_offset + offset;
    return memchr(text, '\0', strings->sh_size - offset) ? text : "";
}

static void read_loader(const image *file, cp_elf_facts *facts)
{
    uint64_t size = (uint64_t)file->header->e_phnum * sizeof(Elf64_Phdr);
    const Elf64_Phdr *segments = part(file, file->header->e_phoff, size);

    for (unsigned i = 0; segments && i < file->header->e_phnum; i++) {
        const Elf64_Phdr *s = &segments[i];
        bool inside = s->p_offset <= file->size && s->p_filesz <= file->size - s->p_offset;
        if (s->p_type == PT_INTERP && inside && s->p_filesz < sizeof facts->loader) {
            memcpy(facts->loader, file->bytes + s->p_offset, s->p_filesz);
        }
    }
}

/* Whether a table of symbols defines a function of that name. */
static bool defines(const image *file, const Elf64_Shdr *table, const char *name)
{
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym *symbols = part(file, table->sh_offset, table->sh_size);

    for (uint64_t i = 0; symbols && i < count; i++) {
        unsigned type = ELF64_ST_TYPE(symbols[i].st_info);
        if (symbols[i].st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
            strcmp(text_at(file, table->sh_link, symbols[i].st_name), name) == 0) {
            return true;
        }
    }
    return false;
}

static void read_jemalloc(const image *file, const Elf64_Shdr *table, cp_elf_facts *facts)
{
    static const char *const found_by[] = {"mallctl", "je_mallctl", "_rjem_mallctl"};
    static const char *const turned_on_by[] = {"MALLOC_CONF=prof:true", "JE_MALLOC_CONF=prof:true",
                                               "_RJEM_MALLOC_CONF=prof:true"};

    for (size_t i = 0; i < sizeof found_by / sizeof *found_by; i++) {
        if (defines(file, table, found_by[i])) {
            facts->jemalloc = turned_on_by[i];
        }
    }
}

static void read_section(const image *file, const Elf64_Shdr *section, cp_elf_facts *facts)
{
    const char *name = text_at(file, file->header->e_shstrndx, section->sh_name);

    if (section->sh_type == SHT_SYMTAB) {
        facts->has_symbols = true;
        facts->hides_malloc = defines(file, section, "malloc");
        read_jemalloc(file, section, facts);
    } else if (section->sh_type == SHT_DYNSYM) {
        facts->exports_malloc = defines(file, section, "malloc");
        read_jemalloc(file, section, facts);
    }
    facts->has_debug_data |= strcmp(name, ".gnu_debugdata") == 0;
    facts->has_lines |= strcmp(name, ".debug_info") == 0 && section->sh_type != SHT_NOBITS;
    facts->has_build_id |= strcmp(name, ".note.gnu.build-id") == 0;
    facts->is_go |= strcmp(name, ".go.buildinfo") == 0;
}

static int read_image(image *file, cp_elf_facts *facts)
{
    const Elf64_Ehdr *header = part(file, 0, sizeof *header);

    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return -ENOEXEC;
    }
    file->header = header;
    file->sections =
        part(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof *file->sections);
    facts->entry = header->e_entry;
    read_loader(file, facts);
    for (unsigned i = 0; file->sections && i < header->e_shnum; i++) {
        read_section(file, &file->sections[i], facts);
    }
    facts->hides_malloc &= !facts->exports_malloc;
    return 0;
}

static int read_mapped(int fd, size_t size, cp_elf_facts *facts)
{
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

    if (bytes == MAP_FAILED) {
        return -errno;
    }
    image file = {.bytes = bytes, .size = size};
    int status = read_image(&file, facts);
    munmap(bytes, size);
    return status;
}

int cp_elf_facts_read(const char *path, cp_elf_facts *facts)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    memset(facts, 0, sizeof *facts);
    if (fd < 0) {
        return -errno;
    }
    int status = -ENOEXEC;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        status = read_mapped(fd, (size_t)info.st_size, facts);
    }
    close(fd);
    return status;
}
