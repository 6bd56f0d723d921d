/* SPDX-License-Identifier: MIT
 *
 * find_object_list.c: follows the list that the loader keeps for debuggers: for musl, and for glibc before
 * 2.35.
 *
 * musl unloads a library only if its dlopen fails. glibc unloads at any time, and frees the entry of the
 * list. So this code reads the list and the objects by checked reads, but the part that stays for ever
 * (pp_loaders_list_lasting), and believes no entry: the headers must be at the address that it names. Where another thread unloads at this moment, the list
 * may end early, and the object is not found. An object in the list may not be relocated yet; none
 * of its code has run then.
 *
 * Zone: SIGNAL.
 * Tested by: unit.find_object_list
 */
#include "modules/find_object.h"

#include "modules/loaders_list.h"
#include "sys/safe_read.h"

#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

enum { HEADERS_MAX = 64, OBJECTS_MAX = 1 << 14 };

/* Where an object's program headers are. */
typedef struct header_table {
    uintptr_t address;
    size_t count;
} header_table;

/* Adds a segment to the bounds; true if it has the address. */
static bool take_segment(const ElfW(Phdr) * segment, uintptr_t bias, uintptr_t address,
                         pp_found_object *found)
{
    uintptr_t start = bias + segment->p_vaddr;
    uintptr_t end = start + segment->p_memsz;
    if (segment->p_type == PT_GNU_EH_FRAME) {
        found->eh_frame = start;
    }
    if (segment->p_type != PT_LOAD || segment->p_memsz == 0) {
        return false;
    }
    found->start = start < found->start ? start : found->start;
    found->end = end > found->end ? end : found->end;
    return address >= start && address < end;
}

/* A library begins with its file's header. The kernel says where the program's headers are. */
static bool find_headers(uintptr_t bias, bool is_program, header_table *table)
{
    ElfW(Ehdr) header;
    if (is_program) {
        *table = (header_table){(uintptr_t)getauxval(AT_PHDR), (size_t)getauxval(AT_PHNUM)};
        return table->address != 0;
    }
    if (!pp_safe_copy(&header, bias, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return false;
    }
    *table = (header_table){bias + header.e_phoff, header.e_phnum};
    return true;
}

/* False if no segment of the object has the address, or the object cannot be read. */
static bool read_bounds(uintptr_t bias, bool is_program, uintptr_t address, pp_found_object *found)
{
    header_table table = {0};
    bool has_address = false;
    *found = (pp_found_object){.start = UINTPTR_MAX};
    if (!find_headers(bias, is_program, &table) || table.count > HEADERS_MAX) {
        return false;
    }
    for (size_t i = 0; i < table.count; i++) {
        ElfW(Phdr) segment;
        if (!pp_safe_copy(&segment, table.address + i * sizeof segment, sizeof segment)) {
            return false;
        }
        has_address |= take_segment(&segment, bias, address, found);
    }
    return has_address;
}

/* The entry with the highest bias up to `most`, which is *bias then; NULL if there is none. */
static const struct link_map *find_nearest(uintptr_t most, uintptr_t *bias)
{
    struct link_map entry;
    const struct link_map *nearest = NULL;
    *bias = 0;
    const struct link_map *first = pp_loaders_list();
    uintptr_t lasting = pp_loaders_list_lasting();
    bool lasts = lasting != UINTPTR_MAX;
    const struct link_map *map = first;
    for (unsigned i = 0; map != NULL && i < OBJECTS_MAX; i++) {
        if (lasts) {
            entry = *map;
            lasts = entry.l_addr != lasting;
        } else if (!pp_safe_copy(&entry, (uintptr_t)map, sizeof entry)) {
            break;
        }
        if (entry.l_addr <= most && entry.l_addr >= *bias) {
            nearest = map;
            *bias = entry.l_addr;
        }
        map = entry.l_next;
    }
    return nearest;
}

/* The nearest object below the address has it, or, where that one lies in a hole between the segments of another, this: on
 * aarch64, whose segments have 64 KiB of alignment, the kernel may put the vDSO there. */
bool pp_object_find_listed(uintptr_t address, pp_found_object *found)
{
    enum { NESTED = 3 };
    uintptr_t most = address;
    for (unsigned i = 0; i < NESTED; i++) {
        uintptr_t bias = 0;
        const struct link_map *nearest = find_nearest(most, &bias);
        if (nearest == NULL) {
            return false;
        }
        if (read_bounds(bias, nearest == pp_loaders_list(), address, found)) {
            found->map = nearest;
            return true;
        }
        if (bias == 0) {
            return false;
        }
        most = bias - 1;
    }
    return false;
}
