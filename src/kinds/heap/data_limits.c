/* SPDX-License-Identifier: MIT
 *
 * data_limits.c: see data_limits.h.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.data_limits
 */
#include "kinds/heap/data_limits.h"

#include "arch/system_call.h"
#include "kinds/heap/resident.h"

#include <link.h>
#include <string.h>

/* Reading the headers of a library brings 16 pages of it into the process: that has to be worth it. */
enum { HEADERS_MAX = 32, WORTH_BYTES = 256 * 1024 };

static bool copy(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    return pp_memory_copy_part(memory, to, from, size) == size;
}

static uintptr_t page_up(uintptr_t address)
{
    return (address + pp_page_bytes() - 1) & ~(pp_page_bytes() - 1);
}

/* Where an object ends that begins at the address; 0: it has no headers there. */
static uintptr_t end_of_object(uintptr_t start, const pp_memory *memory)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) list[HEADERS_MAX];
    uintptr_t first = UINTPTR_MAX;
    uintptr_t end = 0;
    if (!copy(memory, &header, start, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phnum > HEADERS_MAX ||
        !copy(memory, list, start + header.e_phoff, header.e_phnum * sizeof *list)) {
        return 0;
    }
    for (size_t i = 0; i < header.e_phnum; i++) {
        if (list[i].p_type == PT_LOAD) {
            first = list[i].p_vaddr < first ? list[i].p_vaddr : first;
            end = list[i].p_vaddr + list[i].p_memsz > end ? list[i].p_vaddr + list[i].p_memsz : end;
        }
    }
    return end > first ? page_up(start + end - (first & ~(pp_page_bytes() - 1))) : 0;
}

/* The first mapping of the object whose variables are in the area before. */
static const pp_map_line *first_of_object(const pp_smaps *areas, size_t index)
{
    const char *path = areas->list[index].map.path;
    while (index > 0 && strcmp(areas->list[index - 1].map.path, path) == 0) {
        index--;
    }
    return &areas->list[index].map;
}

void pp_data_limits_find(pp_smaps *areas, const pp_memory *memory)
{
    for (size_t i = 0; i < areas->count; i++) {
        if (areas->list[i].resident >= WORTH_BYTES && pp_resident_is_after_variables(areas, i)) {
            const pp_map_line *first = first_of_object(areas, i - 1);
            areas->list[i].data_limit =
                first->offset == 0 ? end_of_object(first->start, memory) : 0;
        }
    }
}
