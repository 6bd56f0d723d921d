/* SPDX-License-Identifier: MIT
 *
 * find_object_musl.c: follows the list that the loader keeps for debuggers.
 *
 * musl never unloads a library, so an entry stays in the list, with one exception: a dlopen that
 * fails takes back what it has mapped. So this code reads the list and the objects by checked reads.
 * An object in the list may not be relocated yet; none of its code has run then.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.musl, unit.modules
 */
#include "modules/find_object.h"

#include "modules/loaders_list.h"
#include "sys/safe_read.h"

#include <string.h>

enum { HEADERS_MAX = 64, OBJECTS_MAX = 1 << 14 };

bool pp_object_can_find(void)
{
    return pp_loaders_list() != NULL;
}

/* Adds a segment to the bounds. */
static void take_segment(const ElfW(Phdr) * segment, uintptr_t bias, pp_found_object *found)
{
    uintptr_t start = bias + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) {
        found->eh_frame = start;
    } else if (segment->p_type == PT_LOAD && segment->p_memsz > 0) {
        found->start = start < found->start ? start : found->start;
        found->end = start + segment->p_memsz > found->end ? start + segment->p_memsz : found->end;
    }
}

/* Reads the headers of a library. The program's may be elsewhere: it is permanent, and no walk asks
 * for it here. */
static bool read_bounds(uintptr_t bias, pp_found_object *found)
{
    ElfW(Ehdr) header;
    *found = (pp_found_object){.start = UINTPTR_MAX};
    if (!pp_safe_copy(&header, bias, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phnum > HEADERS_MAX) {
        return false;
    }
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        if (!pp_safe_copy(&segment, bias + header.e_phoff + i * sizeof segment, sizeof segment)) {
            return false;
        }
        take_segment(&segment, bias, found);
    }
    return true;
}

/* The objects lie apart from each other: only the nearest one below the address can have it. */
bool pp_object_find(uintptr_t address, pp_found_object *found)
{
    struct link_map entry;
    const struct link_map *nearest = NULL;
    uintptr_t bias = 0;
    const struct link_map *map = pp_loaders_list();
    for (unsigned i = 0; map != NULL && i < OBJECTS_MAX; i++) {
        if (!pp_safe_copy(&entry, (uintptr_t)map, sizeof entry)) {
            break;
        }
        if (entry.l_addr <= address && entry.l_addr >= bias) {
            nearest = map;
            bias = entry.l_addr;
        }
        map = entry.l_next;
    }
    if (nearest == NULL || !read_bounds(bias, found) || address < found->start ||
        address >= found->end) {
        return false;
    }
    found->map = nearest;
    return true;
}
