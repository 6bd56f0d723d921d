/* SPDX-License-Identifier: MIT
 *
 * linked.c: searches the dynamic sections of the loaded objects for a DT_NEEDED with our name.
 *
 * Zone: NORMAL.
 * Locks: the loader's, in dl_iterate_phdr.
 * Tested by: e2e.heap_linked
 */
#include "modules/linked.h"

#include "base/path.h"
#include "modules/late.h"
#include "modules/libc.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const char stem[] = "libpprof.so";

static bool contains(const struct dl_phdr_info *object, uintptr_t address)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        if (header->p_type == PT_LOAD &&
            address - (object->dlpi_addr + header->p_vaddr) < header->p_memsz) {
            return true;
        }
    }
    return false;
}

static bool needs_us(const struct dl_phdr_info *object, const ElfW(Dyn) * dynamic)
{
    uintptr_t texts = 0;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) {
            texts = entry->d_un.d_ptr;
        }
    }
    if (texts == 0) {
        return false;
    }
    /* The loader relocates this address in place, except in a read-only dynamic section. */
    if (!contains(object, texts)) {
        texts += object->dlpi_addr;
        if (!contains(object, texts)) {
            return false;
        }
    }
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_NEEDED) {
            const char *name = (const char *)texts + entry->d_un.d_val;
            if (strncmp(pp_base_name(name), stem, sizeof stem - 1) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The first object is the program: if it has our code, libpprof.a was linked to it. */
static int visit_object(struct dl_phdr_info *object, size_t size, void *context)
{
    unsigned *seen = context;
    (void)size;
    if ((*seen)++ == 0 && contains(object, (uintptr_t)pp_is_linked)) {
        return 1;
    }
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        if (header->p_type == PT_DYNAMIC &&
            needs_us(object, (const ElfW(Dyn) *)(object->dlpi_addr + header->p_vaddr))) {
            return 1;
        }
    }
    return 0;
}

/* Our own server needs us, too. */
bool pp_is_linked(void)
{
    unsigned seen = 0;
    return !pp_late_is() && pp_libc_each_object(visit_object, &seen) != 0;
}
