/* SPDX-License-Identifier: MIT
 *
 * loaded_symbols.c: finds a name in the hash tables of one loaded object [System V ABI, "Dynamic
 * Linking"].
 *
 * This file trusts the tables: the loader has relocated other objects by them.
 *
 * Zone: SIGNAL.
 */
#include "sys/loaded_symbols.h"

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    VERSION_HIDDEN = 0x8000,
    VERSION_NUMBER = 0x7fff,
    FIRST_NAMED_VERSION = 2 /* 0 is local, 1 the object without a version */
};

uint32_t pp_loaded_symbols_hash(const char *name)
{
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        hash = hash * 33 + *c;
    }
    return hash;
}

static uint32_t old_hash(const char *name)
{
    uint32_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++) {
        hash = (hash << 4) + *c;
        hash ^= hash >> 24 & 0xf0;
        hash &= 0x0fffffff;
    }
    return hash;
}

/* The loader relocates these pointers in place, except in the vDSO's read-only dynamic section. */
static const void *at_address(uintptr_t value, uintptr_t bias)
{
    return (const void *)(value < bias ? value + bias : value);
}

const ElfW(Dyn) * pp_loaded_dynamic(const struct dl_phdr_info *info)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        }
    }
    return NULL;
}

void pp_loaded_symbols_read(pp_loaded_symbols *symbols, const ElfW(Dyn) * dynamic, uintptr_t bias)
{
    uintptr_t soname = 0;
    *symbols = (pp_loaded_symbols){.bias = bias, .dynamic = dynamic};
    for (const ElfW(Dyn) *d = dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
        const void *table = at_address(d->d_un.d_ptr, bias);
        switch (d->d_tag) {
        case DT_STRTAB:
            symbols->names = table;
            break;
        case DT_SYMTAB:
            symbols->symbols = table;
            break;
        case DT_VERSYM:
            symbols->versions = table;
            break;
        case DT_GNU_HASH:
            symbols->gnu_hash = table;
            break;
        case DT_HASH:
            symbols->hash = table;
            break;
        case DT_VERDEF:
            symbols->version_definitions = table;
            break;
        case DT_VERNEED:
            symbols->version_needs = table;
            break;
        case DT_SONAME:
            soname = d->d_un.d_val;
            break;
        default:
            break;
        }
    }
    if (symbols->names != NULL && soname != 0) {
        symbols->soname = symbols->names + soname;
    }
}

static bool is_default_version(const pp_loaded_symbols *s, uint32_t index)
{
    unsigned version = s->versions != NULL ? s->versions[index] : 0;
    return (version & VERSION_NUMBER) < FIRST_NAMED_VERSION || (version & VERSION_HIDDEN) == 0;
}

/* ---- versions ---- */

static const void *after(const void *entry, uint32_t bytes)
{
    return bytes != 0 ? (const char *)entry + bytes : NULL;
}

/* The name of a version that the object defines; NULL: it defines none of this number. */
static const char *name_of_definition(const pp_loaded_symbols *s, unsigned number)
{
    const ElfW(Verdef) *v = s->version_definitions;
    while (v != NULL && v->vd_ndx != number) {
        v = after(v, v->vd_next);
    }
    const ElfW(Verdaux) *name = v != NULL ? after(v, v->vd_aux) : NULL;
    return name != NULL ? s->names + name->vda_name : NULL;
}

static const char *name_in_need(const pp_loaded_symbols *s, const ElfW(Verneed) * need,
                                unsigned number)
{
    const ElfW(Vernaux) *a = after(need, need->vn_aux);
    while (a != NULL && (a->vna_other & VERSION_NUMBER) != number) {
        a = after(a, a->vna_next);
    }
    return a != NULL ? s->names + a->vna_name : NULL;
}

const char *pp_loaded_symbols_version_needed(const pp_loaded_symbols *symbols, uint32_t index)
{
    unsigned number =
        symbols->versions != NULL ? symbols->versions[index] & (unsigned)VERSION_NUMBER : 0;
    const char *name = NULL;
    const ElfW(Verneed) *need = number >= FIRST_NAMED_VERSION ? symbols->version_needs : NULL;
    for (; need != NULL && name == NULL; need = after(need, need->vn_next)) {
        name = name_in_need(symbols, need, number);
    }
    return name;
}

/* As the loader matches them: a definition without a version suits every reference. */
static bool has_version(const pp_loaded_symbols *s, uint32_t index, const char *version)
{
    unsigned number = s->versions != NULL ? s->versions[index] & (unsigned)VERSION_NUMBER : 0;
    const char *name = number >= FIRST_NAMED_VERSION ? name_of_definition(s, number) : NULL;
    return number < FIRST_NAMED_VERSION || (name != NULL && strcmp(name, version) == 0);
}

/* ---- names ---- */

/* What is looked for. */
typedef struct wanted {
    const char *name;
    const char *version; /* NULL: the default one */
    bool is_variable;
} wanted;

static bool is_definition(const pp_loaded_symbols *s, uint32_t index, const wanted *w)
{
    const ElfW(Sym) *symbol = &s->symbols[index];
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    unsigned binding = ELF64_ST_BIND(symbol->st_info);
    unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 && binding != STB_LOCAL &&
           visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
           (type == (w->is_variable ? STT_OBJECT : STT_FUNC) || type == STT_GNU_IFUNC ||
            type == STT_NOTYPE) &&
           strcmp(s->names + symbol->st_name, w->name) == 0 &&
           (w->version != NULL ? has_version(s, index, w->version) : is_default_version(s, index));
}

static uint32_t find_by_gnu_hash(const pp_loaded_symbols *s, const wanted *w, uint32_t hash)
{
    enum { WORD_BITS = 8 * sizeof(ElfW(Addr)) };
    uint32_t bucket_count = s->gnu_hash[0];
    uint32_t first = s->gnu_hash[1];
    uint32_t filter_words = s->gnu_hash[2];
    uint32_t shift = s->gnu_hash[3];
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(const void *)(s->gnu_hash + 4);
    const uint32_t *buckets = (const uint32_t *)(filter + filter_words);
    const uint32_t *chains = buckets + bucket_count;
    if (bucket_count == 0 || filter_words == 0) {
        return 0;
    }
    ElfW(Addr) word = filter[hash / WORD_BITS & (filter_words - 1)];
    if ((word >> hash % WORD_BITS & word >> (hash >> shift) % WORD_BITS & 1) == 0) {
        return 0;
    }
    uint32_t index = buckets[hash % bucket_count];
    bool last = index < first; /* an empty bucket is 0 */
    for (; !last; index++) {
        uint32_t of_symbol = chains[index - first];
        if ((of_symbol | 1) == (hash | 1) && is_definition(s, index, w)) {
            return index;
        }
        last = of_symbol & 1;
    }
    return 0;
}

static uint32_t find_by_hash(const pp_loaded_symbols *s, const wanted *w)
{
    uint32_t bucket_count = s->hash[0];
    const uint32_t *buckets = s->hash + 2;
    const uint32_t *next = buckets + bucket_count;
    uint32_t index = bucket_count != 0 ? buckets[old_hash(w->name) % bucket_count] : 0;
    while (index != 0 && !is_definition(s, index, w)) {
        index = next[index];
    }
    return index;
}

/* Returns 0 if the object has no such symbol. */
static uint32_t find_index(const pp_loaded_symbols *s, const wanted *w, uint32_t hash)
{
    if (s->names == NULL || s->symbols == NULL) {
        return 0;
    }
    if (s->gnu_hash != NULL) {
        return find_by_gnu_hash(s, w, hash);
    }
    return s->hash != NULL ? find_by_hash(s, w) : 0;
}

bool pp_loaded_symbols_defines(const pp_loaded_symbols *symbols, const char *name, uint32_t hash)
{
    const wanted w = {.name = name};
    return find_index(symbols, &w, hash) != 0;
}

static uint32_t last_symbol_of(const ElfW(Rela) * relocations, size_t count)
{
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = (uint32_t)ELF64_R_SYM(relocations[i].r_info);
        last = index > last ? index : last;
    }
    return last;
}

/* The last symbol to which a relocation refers; 0: none. Relative relocations, which refer to none, come
 * first. */
static uint32_t last_relocated(const pp_loaded_symbols *s)
{
    const ElfW(Rela) *table = NULL;
    const ElfW(Rela) *calls = NULL;
    size_t count = 0;
    size_t relative = 0;
    size_t call_count = 0;
    for (const ElfW(Dyn) *d = s->dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_RELA:
            table = at_address(d->d_un.d_ptr, s->bias);
            break;
        case DT_RELASZ:
            count = d->d_un.d_val / sizeof *table;
            break;
        case DT_RELACOUNT:
            relative = d->d_un.d_val;
            break;
        case DT_JMPREL:
            calls = at_address(d->d_un.d_ptr, s->bias);
            break;
        case DT_PLTRELSZ:
            call_count = d->d_un.d_val / sizeof *calls;
            break;
        default:
            break;
        }
    }
    uint32_t in_table =
        table != NULL && relative < count ? last_symbol_of(table + relative, count - relative) : 0;
    uint32_t in_calls = calls != NULL ? last_symbol_of(calls, call_count) : 0;
    return in_table > in_calls ? in_table : in_calls;
}

/*
 * A symbol that the object only refers to is in no hash table. DT_GNU_HASH names the first symbol
 * after these; DT_HASH holds the number of all symbols. Of an object that defines nothing GNU ld names
 * symbol 1, whatever there is (bfd/elflink.c).
 */
static uint32_t end_of_references(const pp_loaded_symbols *s)
{
    uint32_t end = s->gnu_hash != NULL ? s->gnu_hash[1] : s->hash != NULL ? s->hash[1] : 0;
    bool unknown = s->gnu_hash != NULL && end <= 1 && pp_loaded_symbols_count(s) == 0;
    return unknown ? last_relocated(s) + 1 : end;
}

bool pp_loaded_symbols_needs(const pp_loaded_symbols *symbols, const char *name)
{
    if (symbols->names == NULL || symbols->symbols == NULL) {
        return false;
    }
    uint32_t end = end_of_references(symbols);
    for (uint32_t i = 1; i < end; i++) {
        const ElfW(Sym) *symbol = &symbols->symbols[i];
        if (symbol->st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
            strcmp(symbols->names + symbol->st_name, name) == 0) {
            return true;
        }
    }
    return false;
}

static uintptr_t find_address(const pp_loaded_symbols *symbols, const wanted *w)
{
    typedef uintptr_t resolver(void);
    uint32_t index = find_index(symbols, w, pp_loaded_symbols_hash(w->name));
    if (index == 0) {
        return 0;
    }
    const ElfW(Sym) *symbol = &symbols->symbols[index];
    uintptr_t address = symbol->st_value + (symbol->st_shndx != SHN_ABS ? symbols->bias : 0);
    return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? ((resolver *)address)() : address;
}

uintptr_t pp_loaded_symbols_find(const pp_loaded_symbols *symbols, const char *name)
{
    const wanted w = {.name = name};
    return find_address(symbols, &w);
}

uintptr_t pp_loaded_symbols_find_variable(const pp_loaded_symbols *symbols, const char *name)
{
    const wanted w = {.name = name, .is_variable = true};
    return find_address(symbols, &w);
}

uintptr_t pp_loaded_symbols_find_version(const pp_loaded_symbols *symbols, const char *name,
                                         const char *version)
{
    const wanted w = {.name = name, .version = version};
    return find_address(symbols, &w);
}

/* The last symbol is at the end of a chain. */
size_t pp_loaded_symbols_count(const pp_loaded_symbols *symbols)
{
    if (symbols->gnu_hash == NULL) {
        return symbols->hash != NULL ? symbols->hash[1] : 0;
    }
    const uint32_t *head = symbols->gnu_hash;
    const uint32_t *buckets = head + 4 + head[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chains = buckets + head[0];
    uint32_t last = 0;
    for (uint32_t i = 0; i < head[0]; i++) {
        last = buckets[i] > last ? buckets[i] : last;
    }
    if (last < head[1]) {
        return 0;
    }
    while ((chains[last - head[1]] & 1) == 0) {
        last++;
    }
    return last + 1;
}

const char *pp_loaded_symbols_version_hidden(const pp_loaded_symbols *symbols, uint32_t index)
{
    unsigned version = symbols->versions != NULL ? symbols->versions[index] : 0;
    return (version & VERSION_HIDDEN) != 0
               ? name_of_definition(symbols, version & (unsigned)VERSION_NUMBER)
               : NULL;
}
