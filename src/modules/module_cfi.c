/* SPDX-License-Identifier: MIT
 *
 * module_cfi.c: finds .eh_frame_hdr, or else .eh_frame.
 *
 * Zone: NORMAL.
 */
#include "modules/module_cfi.h"

#include "elf/elf.h"
#include "sys/apart.h"

#include <stdbool.h>
#include <string.h>

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
    enum {
        LEAST = 8,       /* four bytes of encodings, and the address of .eh_frame */
        LEAST_TABLE = 20 /* with the number of entries, and an entry */
    };
    const ElfW(Phdr) *segment = segment_of(info, header->p_vaddr, LEAST);
    if (segment != NULL) {
        module->eh_frame_hdr = info->dlpi_addr + header->p_vaddr;
        module->cfi_lo = info->dlpi_addr + segment->p_vaddr;
        module->cfi_hi = module->cfi_lo + segment->p_memsz;
        module->lacks_table = header->p_memsz < LEAST_TABLE;
        set_range_of_all(info, module);
    }
}

/* ---- objects without .eh_frame_hdr ---- */

/* Whether this is the loaded file, not another file that has taken its name since. */
static bool is_file_of(const pp_elf *elf, const struct dl_phdr_info *info)
{
    Elf64_Phdr segment;
    unsigned i = 0;
    while (i < info->dlpi_phnum && pp_elf_segment(elf, i, &segment) &&
           memcmp(&segment, &info->dlpi_phdr[i], sizeof segment) == 0) {
        i++;
    }
    return i == info->dlpi_phnum && i == elf->header.e_phnum;
}

static bool find_section(const pp_elf *elf, Elf64_Shdr *section)
{
    static const char wanted[] = ".eh_frame";
    uint64_t i = 1;
    while (pp_elf_section(elf, i, section) &&
           ((section->sh_flags & SHF_ALLOC) == 0 ||
            !pp_elf_section_begins(elf, section, wanted, sizeof wanted))) {
        i++;
    }
    return i < elf->section_count;
}

typedef struct description {
    const struct dl_phdr_info *info;
    const pp_files *files;
    const char *path;
    pp_module *module;
} description;

static void describe_by_section(void *of_description)
{
    enum { LEAST = 16 }; /* a lone end mark is no information */
    const description *d = of_description;
    const struct dl_phdr_info *info = d->info;
    pp_module *module = d->module;
    pp_elf elf;
    Elf64_Shdr section;
    if (pp_elf_open(&elf, d->files, d->path) != 0) {
        return;
    }
    if (is_file_of(&elf, info) && find_section(&elf, &section) && section.sh_size >= LEAST &&
        segment_of(info, section.sh_addr, section.sh_size) != NULL) {
        module->eh_frame_hdr = module->cfi_lo = info->dlpi_addr + section.sh_addr;
        module->cfi_hi = module->cfi_lo + section.sh_size;
        module->lacks_table = true;
    }
    pp_elf_close(&elf);
}

void pp_module_cfi_describe(const struct dl_phdr_info *info, const pp_files *files,
                            const char *path, pp_module *module)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) {
            describe_by_header(info, &info->dlpi_phdr[i], module);
            return;
        }
    }
    description d = {info, files, path, module};
    pp_apart(describe_by_section, &d);
}
