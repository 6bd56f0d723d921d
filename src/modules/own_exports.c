/* SPDX-License-Identifier: MIT
 *
 * own_exports.c: see own_exports.h.
 *
 * Zone: HOOK.
 * Owns: the list.
 * Tested by: e2e.attached_hooks
 */
#include "modules/own_exports.h"

#include <string.h>

enum { MOST = 640, CHAINS = 256 };

/* The linker defines these for this object. */
extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((weak, visibility("hidden")));
extern const char own_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));

static struct {
    size_t count; /* [0] is not used */
    pp_own_export list[MOST];
    uint16_t chains[CHAINS];
} exports;

/* ---- definitions ---- */

static bool is_us(const pp_loaded_objects *objects, size_t i)
{
    return objects->object[i].symbols.dynamic == own_dynamic;
}

static uintptr_t definition_in(const pp_loaded_symbols *symbols, const char *name,
                               const char *version)
{
    return version != NULL ? pp_loaded_symbols_find_version(symbols, name, version)
                           : pp_loaded_symbols_find(symbols, name);
}

uintptr_t pp_definition_find(const pp_loaded_objects *objects, const char *name,
                             const char *version, size_t *object)
{
    uintptr_t found = 0;
    for (size_t i = 0; found == 0 && i < objects->count; i++) {
        found = is_us(objects, i) ? 0 : definition_in(&objects->object[i].symbols, name, version);
        *object = i;
    }
    return found;
}

static unsigned count_definers(const pp_loaded_objects *objects, const pp_own_export *e)
{
    unsigned count = 0;
    for (size_t i = 0; i < objects->count; i++) {
        count += !is_us(objects, i) &&
                 pp_loaded_symbols_defines(&objects->object[i].symbols, e->name, e->hash);
    }
    return count;
}

/* ---- the list ---- */

static bool is_a_hook(const pp_loaded_symbols *own, uint32_t index)
{
    static const char prefix[] = "pprof_";
    const ElfW(Sym) *symbol = &own->symbols[index];
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           strncmp(own->names + symbol->st_name, prefix, sizeof prefix - 1) != 0;
}

static void add(const pp_loaded_symbols *own, uint32_t index)
{
    const char *name = own->names + own->symbols[index].st_name;
    uint32_t hash = pp_loaded_symbols_hash(name);
    uint16_t *chain = &exports.chains[hash % CHAINS];
    exports.list[++exports.count] =
        (pp_own_export){.name = name,
                        .version = pp_loaded_symbols_version_hidden(own, index),
                        .hash = hash,
                        .next = *chain,
                        .entry = own->symbols[index].st_value + (uintptr_t)own_start};
    *chain = (uint16_t)exports.count;
}

static void read_own(void)
{
    pp_loaded_symbols own;
    pp_loaded_symbols_read(&own, own_dynamic, (uintptr_t)own_start);
    size_t count = own_dynamic != NULL ? pp_loaded_symbols_count(&own) : 0;
    for (uint32_t i = 1; i < count && exports.count + 1 < MOST; i++) {
        if (is_a_hook(&own, i)) {
            add(&own, i);
        }
    }
}

/* A name that has two versions here may have one elsewhere, which is that of the default. */
static bool is_default_too(const pp_loaded_objects *objects, const pp_own_export *e)
{
    size_t object = 0;
    return e->version != NULL && pp_definition_find(objects, e->name, NULL, &object) == e->real;
}

void pp_own_exports_refresh(const pp_loaded_objects *objects)
{
    if (exports.count == 0) {
        read_own();
    }
    for (size_t i = 1; i <= exports.count; i++) {
        pp_own_export *e = &exports.list[i];
        e->real = pp_definition_find(objects, e->name, e->version, &e->object);
        e->real = is_default_too(objects, e) ? 0 : e->real;
        e->definers = e->real != 0 ? count_definers(objects, e) : 0;
    }
}

const pp_own_export *pp_own_exports_find(const char *name, const pp_own_export *from)
{
    uint32_t hash = pp_loaded_symbols_hash(name);
    size_t i = from != NULL ? from->next : exports.chains[hash % CHAINS];
    while (i != 0 && (exports.list[i].hash != hash || strcmp(exports.list[i].name, name) != 0)) {
        i = exports.list[i].next;
    }
    return i != 0 ? &exports.list[i] : NULL;
}
