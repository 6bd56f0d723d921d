/* SPDX-License-Identifier: MIT
 *
 * unseen_object.c: looks at the program headers.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "modules/unseen_object.h"

#include "arch/system_call.h"
#include "elf/elf.h"

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(pp_page_bytes() - 1);
}

/* The first segment has the beginning of the file. */
static bool find_bias(pp_elf *elf, uintptr_t image)
{
    Elf64_Phdr segment = {.p_type = PT_NULL};
    unsigned i = 0;
    while (pp_elf_segment(elf, i, &segment) && segment.p_type != PT_LOAD) {
        i++;
    }
    elf->bias = image - page_of(segment.p_vaddr);
    return segment.p_type == PT_LOAD && page_of(segment.p_offset) == 0;
}

static bool has_code(const pp_elf *elf, const pp_mapping *mapping)
{
    Elf64_Phdr load;
    for (unsigned i = 0; pp_elf_segment(elf, i, &load); i++) {
        if (load.p_type == PT_LOAD && (load.p_flags & PF_X) != 0 &&
            page_of(load.p_offset) == mapping->offset &&
            page_of(elf->bias + load.p_vaddr) == mapping->start) {
            return true;
        }
    }
    return false;
}

bool pp_unseen_object_read(uintptr_t image, pp_mapping *mapping)
{
    pp_elf elf;
    if (pp_elf_open_loaded(&elf, NULL, image, 0) != 0 || !find_bias(&elf, image) ||
        !has_code(&elf, mapping)) {
        return false;
    }
    mapping->bias = elf.bias;
    pp_elf_file_build_id(&elf, mapping->build_id, &mapping->build_id_size);
    return true;
}
