/* SPDX-License-Identifier: MIT
 *
 * module_cfi.c: finds .eh_frame_hdr, or else .eh_frame.
 *
 * Zone: NORMAL.
 */
#include "modules/module_cfi.h"

#include "arch/system_call.h"
#include "sys/apart.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

enum {
    MAX_SECTIONS = 4096,     /* a linked object has 40 */
    MAX_PROGRAM_HEADERS = 64 /* a linked object has a dozen */
};

/* ---- objects with .eh_frame_hdr ---- */

/* Returns the segment that includes all of [address, address + size), by the addresses in
 * the file. */
static const ElfW(Phdr) *
    segment_of(const struct dl_phdr_info *info, uint64_t address, uint64_t size)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) &&
            address >= segment->p_vaddr && size <= segment->p_filesz &&
            address - segment->p_vaddr <= segment->p_filesz - size) {
            return segment;
        }
    }
    return NULL;
}

/* Sets the range from the start of the lowest segment to the end of the highest one. */
static void set_range_of_all(const struct dl_phdr_info *info, pp_module *module)
{
    module->all_lo = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD) {
            uintptr_t lo = info->dlpi_addr + segment->p_vaddr;
            module->all_lo = lo < module->all_lo ? lo : module->all_lo;
            module->all_hi = lo + segment->p_memsz;
        }
    }
}

/* The header holds the address of .eh_frame. This code does not read it: that would touch a page of
 * each object when a profile starts, for a few objects that are unusual. */
static void describe_by_header(const struct dl_phdr_info *info, const ElfW(Phdr) * header,
                               pp_module *module)
{
    enum { LEAST = 8 }; /* four bytes of encodings, and the address of .eh_frame */
    const ElfW(Phdr) *segment = segment_of(info, header->p_vaddr, LEAST);
    if (segment != NULL) {
        module->eh_frame_hdr = info->dlpi_addr + header->p_vaddr;
        module->cfi_lo = info->dlpi_addr + segment->p_vaddr;
        module->cfi_hi = module->cfi_lo + segment->p_memsz;
        set_range_of_all(info, module);
    }
}

/* ---- objects without .eh_frame_hdr ---- */

static bool read_at(long fd, void *to, size_t size, uint64_t offset)
{
    return pp_system_call(SYS_pread64, fd, to, size, offset) == (long)size;
}

/* Whether `fd` is the loaded file, not another file that has taken its name since. */
static bool is_file_of(long fd, const struct dl_phdr_info *info, ElfW(Ehdr) * file)
{
    ElfW(Phdr) headers[MAX_PROGRAM_HEADERS] = {0};
    size_t size = info->dlpi_phnum * sizeof *headers;
    return read_at(fd, file, sizeof *file, 0) && memcmp(file->e_ident, ELFMAG, SELFMAG) == 0 &&
           file->e_phentsize == sizeof *headers && file->e_phnum == info->dlpi_phnum &&
           info->dlpi_phnum <= MAX_PROGRAM_HEADERS && read_at(fd, headers, size, file->e_phoff) &&
           memcmp(headers, info->dlpi_phdr, size) == 0;
}

static bool read_section(long fd, const ElfW(Ehdr) * file, unsigned index, ElfW(Shdr) * section)
{
    return read_at(fd, section, sizeof *section, file->e_shoff + (uint64_t)index * sizeof *section);
}

static bool find_section(long fd, const ElfW(Ehdr) * file, ElfW(Shdr) * section)
{
    static const char wanted[] = ".eh_frame";
    char name[sizeof wanted] = "";
    ElfW(Shdr) names = {0};
    if (file->e_shentsize != sizeof *section || file->e_shnum > MAX_SECTIONS ||
        !read_section(fd, file, file->e_shstrndx, &names)) {
        return false;
    }
    for (unsigned i = 1; i < file->e_shnum && read_section(fd, file, i, section); i++) {
        if ((section->sh_flags & SHF_ALLOC) && section->sh_name < names.sh_size &&
            read_at(fd, name, sizeof name, names.sh_offset + section->sh_name) &&
            memcmp(name, wanted, sizeof wanted) == 0) {
            return true;
        }
    }
    return false;
}

typedef struct description {
    const struct dl_phdr_info *info;
    const char *path;
    pp_module *module;
} description;

static void describe_by_section(void *of_description)
{
    enum { LEAST = 16 }; /* a lone end mark is no information */
    const description *d = of_description;
    const struct dl_phdr_info *info = d->info;
    pp_module *module = d->module;
    ElfW(Ehdr) file = {0};
    ElfW(Shdr) section = {0};
    long fd =
        pp_system_call(SYS_openat, AT_FDCWD, d->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (is_file_of(fd, info, &file) && find_section(fd, &file, &section) &&
        section.sh_size >= LEAST && segment_of(info, section.sh_addr, section.sh_size) != NULL) {
        module->eh_frame_hdr = module->cfi_lo = info->dlpi_addr + section.sh_addr;
        module->cfi_hi = module->cfi_lo + section.sh_size;
    }
    pp_system_call(SYS_close, fd);
}

void pp_module_cfi_describe(const struct dl_phdr_info *info, const char *path, pp_module *module)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
            describe_by_header(info, &info->dlpi_phdr[i], module);
            return;
        }
    }
    description d = {info, path, module};
    pp_apart(describe_by_section, &d);
}
