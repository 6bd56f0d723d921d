/* SPDX-License-Identifier: MIT
 *
 * got_object.c: see got_object.h.
 *
 * Zone: NORMAL.
 * Tested by: e2e.attached_hooks, unit.got_object
 */
#include "attach/got_object.h"

#include "arch/linkage.h"
#include "base/path.h"
#include "modules/find_object.h"
#include "sys/loaded_symbols.h"
#include "sys/safe_read.h"

#include <string.h>

enum { PAGE = 4096, NAME_MAX_BYTES = 256 };

static const char own_stem[] = "libpprof";

/* ---- checked addresses ---- */

static const ElfW(Phdr) * segment_of(const pp_got_object *o, uintptr_t address)
{
    for (unsigned i = 0; i < o->info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &o->info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (o->info->dlpi_addr + p->p_vaddr) < p->p_memsz) {
            return p;
        }
    }
    return NULL;
}

/* Whether all bytes are in one segment. */
static bool contains(const pp_got_object *o, uintptr_t address, size_t size)
{
    const ElfW(Phdr) *p = segment_of(o, address);
    return p != NULL && size <= o->info->dlpi_addr + p->p_vaddr + p->p_memsz - address;
}

static bool is_page_there(pp_got_object *o, uintptr_t address)
{
    uintptr_t number = address / PAGE;
    uintptr_t *known = &o->pages[number % PP_GOT_PAGES];
    if (*known != number && pp_page_readable(address)) {
        *known = number;
    }
    return *known == number;
}

static bool is_there(pp_got_object *o, const void *what, size_t size)
{
    uintptr_t address = (uintptr_t)what;
    return contains(o, address, size) && is_page_there(o, address) &&
           is_page_there(o, address + size - 1);
}

/* A text that ends in the segment, and is not longer than any name that is looked for. */
static bool is_text_there(pp_got_object *o, const char *text)
{
    for (size_t i = 0; i < NAME_MAX_BYTES; i++) {
        uintptr_t address = (uintptr_t)text + i;
        if ((i == 0 || address % PAGE == 0) &&
            (segment_of(o, address) == NULL || !is_page_there(o, address))) {
            return false;
        }
        if (text[i] == '\0') {
            return true;
        }
    }
    return false;
}

bool pp_got_object_has_code(const pp_got_object *o, uintptr_t address)
{
    const ElfW(Phdr) *p = segment_of(o, address);
    return p != NULL && (p->p_flags & PF_X) != 0;
}

/* ---- the tables ---- */

/* Where the loader has relocated the section in place, or not. */
static uintptr_t address_in(const pp_got_object *o, uintptr_t value)
{
    uintptr_t moved = value + o->info->dlpi_addr;
    return segment_of(o, value) != NULL ? value : moved;
}

static void set_table(pp_got_object *o, unsigned i, uintptr_t value, size_t size)
{
    uintptr_t at = address_in(o, value);
    if (value != 0 && at % sizeof(uintptr_t) == 0 && contains(o, at, size)) {
        o->tables[i] = (const ElfW(Rela) *)at;
        o->counts[i] = size / sizeof *o->tables[i];
    }
}

static bool read_tables(pp_got_object *o, const ElfW(Dyn) * dynamic)
{
    uintptr_t rela = 0;
    uintptr_t calls = 0;
    size_t rela_size = 0;
    size_t calls_size = 0;
    const ElfW(Dyn) *d = dynamic;
    for (; is_there(o, d, sizeof *d) && d->d_tag != DT_NULL; d++) {
        rela = d->d_tag == DT_RELA ? d->d_un.d_ptr : rela;
        rela_size = d->d_tag == DT_RELASZ ? d->d_un.d_val : rela_size;
        calls = d->d_tag == DT_JMPREL ? d->d_un.d_ptr : calls;
        calls_size = d->d_tag == DT_PLTRELSZ ? d->d_un.d_val : calls_size;
    }
    if (!is_there(o, d, sizeof *d)) {
        return false; /* the section has no end */
    }
    set_table(o, 0, rela, rela_size);
    set_table(o, 1, calls, calls_size);
    pp_loaded_symbols_read(&o->symbols, dynamic, o->info->dlpi_addr);
    return o->counts[0] + o->counts[1] > 0 && o->symbols.names != NULL &&
           o->symbols.symbols != NULL;
}

static bool is_own(const struct dl_phdr_info *info)
{
    const char *name = info->dlpi_name != NULL ? pp_base_name(info->dlpi_name) : "";
    return strncmp(name, own_stem, sizeof own_stem - 1) == 0;
}

/* glibc finds an object from the moment when the loader has relocated it. */
bool pp_got_object_is_ready(const ElfW(Dyn) * dynamic)
{
    pp_found_object found;
    return !pp_object_can_find() || pp_object_find((uintptr_t)dynamic, &found);
}

pp_got_object_state pp_got_object_read(pp_got_object *o, const struct dl_phdr_info *info)
{
    *o = (pp_got_object){.info = info};
    const ElfW(Dyn) *dynamic = pp_loaded_dynamic(info);
    if (dynamic == NULL || is_own(info) || !read_tables(o, dynamic)) {
        return PP_GOT_OBJECT_HAS_NONE;
    }
    return pp_got_object_is_ready(dynamic) ? PP_GOT_OBJECT_IS_THERE : PP_GOT_OBJECT_IS_NOT_READY;
}

/* ---- references ---- */

static bool read_reference(pp_got_object *o, const ElfW(Rela) * r, pp_got_type type,
                           pp_got_reference *reference)
{
    uint32_t index = (uint32_t)ELF64_R_SYM(r->r_info);
    const ElfW(Sym) *symbol = &o->symbols.symbols[index];
    uintptr_t at = o->info->dlpi_addr + r->r_offset;
    if (index == 0 || at % sizeof(uintptr_t) != 0 || !is_there(o, symbol, sizeof *symbol)) {
        return false;
    }
    *reference = (pp_got_reference){.slot = (uintptr_t *)at,
                                    .name = o->symbols.names + symbol->st_name,
                                    .symbol = index,
                                    .is_call = type == PP_GOT_CALL,
                                    .is_undefined = symbol->st_shndx == SHN_UNDEF};
    return is_text_there(o, reference->name) && is_there(o, reference->slot, sizeof at);
}

void pp_got_object_each(pp_got_object *o, pp_got_visit *visit, void *context)
{
    pp_got_reference reference;
    for (unsigned table = 0; table < PP_GOT_TABLES; table++) {
        for (size_t i = 0; i < o->counts[table]; i++) {
            const ElfW(Rela) *r = &o->tables[table][i];
            pp_got_type type = is_there(o, r, sizeof *r) ? pp_got_type_of(r) : PP_GOT_NONE;
            if (type != PP_GOT_NONE && read_reference(o, r, type, &reference)) {
                visit(&reference, context);
            }
        }
    }
}
