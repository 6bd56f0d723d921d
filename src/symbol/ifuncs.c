/* SPDX-License-Identifier: MIT
 *
 * ifuncs.c: reads symbols from the file, relocations from the files of all modules, slots from
 * memory.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, stat, pread, close, process_vm_readv).
 * Owns: a scratch arena for the length of a call.
 * Tested by: unit.places, e2e.stripped_names
 */
#include "symbol/ifuncs.h"

#include "arch/linkage.h"
#include "elf/relocations.h"
#include "symbol/names.h"
#include "sys/safe_read.h"

#include <string.h>

enum {
    WINDOW_SYMBOLS = 256, /* 6 KiB of the table in one read */
    IFUNCS_MAX = 4096,    /* glibc has 150 of them */
    CHUNK = 512,          /* bytes of slots in one copy; divides every page */
    HEADERS = 1024        /* bytes at the start of a file that identify it: segments, build id */
};

/* ---- The symbols --------------------------------------------------------------------------- */

static bool is_ifunc(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC && symbol->st_shndx != SHN_UNDEF;
}

static void note_symbol(pp_ifuncs *ifuncs, const pp_elf *elf, const pp_elf_symbols *table,
                        const Elf64_Sym *symbol, pp_arena *arena)
{
    if (!is_ifunc(symbol) || ifuncs->count == IFUNCS_MAX) {
        return;
    }
    if (ifuncs->list == NULL) {
        ifuncs->list = pp_arena_array(arena, IFUNCS_MAX, sizeof(*ifuncs->list));
    }
    const char *name = pp_relocations_name(elf, table, symbol->st_name, arena);
    if (ifuncs->list == NULL || name == NULL) {
        return;
    }
    ifuncs->list[ifuncs->count++] = (pp_ifunc){
        .name = name,
        .resolver = symbol->st_value,
        .is_weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK,
    };
}

void pp_ifuncs_read(pp_ifuncs *ifuncs, const pp_elf *elf, pp_arena *arena)
{
    pp_elf_symbols table;
    *ifuncs = (pp_ifuncs){NULL, 0};
    Elf64_Sym *window = pp_arena_array(arena, WINDOW_SYMBOLS, sizeof(*window));
    if (window == NULL || !pp_relocations_symbols(elf, &table)) {
        return;
    }
    for (uint64_t done = 0, size; done < table.count; done += size) {
        size = table.count - done < WINDOW_SYMBOLS ? table.count - done : WINDOW_SYMBOLS;
        if (!pp_elf_read(elf, table.offset + done * sizeof(*window), window,
                         size * sizeof(*window))) {
            return;
        }
        for (uint64_t i = 0; i < size; i++) {
            note_symbol(ifuncs, elf, &table, &window[i], arena);
        }
    }
}

/* ---- The slots ----------------------------------------------------------------------------- */

typedef struct finder {
    pp_ifuncs *ifuncs;
    const pp_mapping *home; /* the module of the symbols */
    const pp_extent *extents;
    size_t extent_count;
    /* The module whose slots are being read. */
    const pp_elf *elf;
    const pp_mapping *mapping;
    pp_elf_symbols symbols;
    pp_arena *scratch;
    uintptr_t chunk; /* the address of `bytes`; 0 = none */
    bool chunk_is_read;
    uint8_t bytes[CHUNK];
} finder;

static bool read_slot(finder *f, uint64_t slot, uintptr_t *value)
{
    uintptr_t address = slot + f->mapping->bias;
    uintptr_t chunk = address & ~(uintptr_t)(CHUNK - 1);
    if (chunk == 0 || address % sizeof(*value) != 0) {
        return false;
    }
    if (chunk != f->chunk) {
        f->chunk = chunk;
        f->chunk_is_read = pp_memory_copy(f->mapping->memory, f->bytes, chunk, CHUNK);
    }
    memcpy(value, f->bytes + (address - chunk), sizeof(*value));
    return f->chunk_is_read;
}

/* Whether the link-time address is in one of the extents. */
static bool is_wanted(const finder *f, uint64_t address)
{
    size_t low = 0, high = f->extent_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->extents[middle].limit <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < f->extent_count && f->extents[low].start <= address;
}

/* Stores the target for every name of the resolver. */
static void note_target(pp_ifuncs *ifuncs, uint64_t resolver, uint64_t target)
{
    for (size_t i = 0; i < ifuncs->count; i++) {
        if (ifuncs->list[i].resolver == resolver) {
            ifuncs->list[i].target = target;
        }
    }
}

static const pp_ifunc *ifunc_named(const pp_ifuncs *ifuncs, const char *name)
{
    for (size_t i = 0; i < ifuncs->count; i++) {
        if (strcmp(ifuncs->list[i].name, name) == 0) {
            return &ifuncs->list[i];
        }
    }
    return NULL;
}

static void weigh_relocation(void *context, const Elf64_Rela *relocation, uint64_t number)
{
    finder *f = context;
    uintptr_t value;
    uint64_t type = ELF64_R_TYPE(relocation->r_info);
    bool is_own = type == PP_RELOCATION_IRELATIVE && f->mapping->bias == f->home->bias;
    bool is_imported = type == PP_RELOCATION_JUMP_SLOT || type == PP_RELOCATION_GLOB_DAT;
    (void)number;
    if ((!is_own && !is_imported) || !read_slot(f, relocation->r_offset, &value) ||
        value < f->home->start || value >= f->home->limit || !is_wanted(f, value - f->home->bias)) {
        return;
    }
    if (is_own) {
        note_target(f->ifuncs, (uint64_t)relocation->r_addend, value - f->home->bias);
        return;
    }
    const char *name = pp_relocations_symbol_name(f->elf, &f->symbols, relocation, f->scratch);
    const pp_ifunc *ifunc = name != NULL ? ifunc_named(f->ifuncs, name) : NULL;
    if (ifunc != NULL) {
        note_target(f->ifuncs, ifunc->resolver, value - f->home->bias);
    }
}

/* Whether the start of the file equals the memory: the program may have unloaded the module. */
static bool is_loaded(const pp_elf *elf, const pp_mapping *mapping, pp_arena *scratch)
{
    uint64_t first;
    if (elf->is_loaded) {
        return true;
    }
    uint8_t *in_file = pp_arena_alloc(scratch, HEADERS);
    uint8_t *in_memory = pp_arena_alloc(scratch, HEADERS);
    if (in_file == NULL || in_memory == NULL || !pp_elf_first_address(elf, &first)) {
        return false;
    }
    size_t size = pp_elf_read_some(elf, 0, in_file, HEADERS);
    return pp_memory_copy(mapping->memory, in_memory, first + mapping->bias, size) &&
           memcmp(in_file, in_memory, size) == 0;
}

static void search_slots(finder *f, const pp_elf *elf, const pp_mapping *mapping)
{
    pp_arena scratch = PP_ARENA_INIT;
    f->elf = elf;
    f->mapping = mapping;
    f->scratch = &scratch;
    f->chunk = 0;
    if (is_loaded(elf, mapping, &scratch) && pp_relocations_symbols(elf, &f->symbols)) {
        pp_relocations_each(elf, weigh_relocation, f, &scratch);
    }
    pp_arena_release(&scratch);
    f->scratch = NULL;
}

void pp_ifuncs_find(pp_ifuncs *ifuncs, const pp_elf *elf, const pp_mapping *mappings,
                    size_t mapping_count, size_t index, const pp_extent *extents, size_t count)
{
    finder f = {
        .ifuncs = ifuncs,
        .home = &mappings[index],
        .extents = extents,
        .extent_count = count,
    };
    search_slots(&f, elf, f.home);
    for (size_t i = 0; i < mapping_count; i++) {
        pp_elf other;
        if (i == index || pp_symbols_open(&other, &mappings[i]) != 0) {
            continue;
        }
        search_slots(&f, &other, &mappings[i]);
        pp_elf_close(&other);
    }
}

/* ---- The name ------------------------------------------------------------------------------ */

static bool precedes(const pp_ifunc *left, const pp_ifunc *right)
{
    size_t left_underscores = strspn(left->name, "_");
    size_t right_underscores = strspn(right->name, "_");
    if (left_underscores != right_underscores) {
        return left_underscores < right_underscores;
    }
    if (left->is_weak != right->is_weak) {
        return right->is_weak;
    }
    return strcmp(left->name, right->name) < 0;
}

const pp_ifunc *pp_ifuncs_at(const pp_ifuncs *ifuncs, const pp_extent *extent, uint64_t address)
{
    const pp_ifunc *best = NULL;
    for (size_t i = 0; i < ifuncs->count; i++) {
        const pp_ifunc *next = &ifuncs->list[i];
        if (next->target == 0 || next->target < extent->start || next->target > address) {
            continue;
        }
        if (best == NULL || next->target > best->target ||
            (next->target == best->target && precedes(next, best))) {
            best = next;
        }
    }
    return best;
}

const pp_ifunc *pp_ifuncs_of(const pp_ifuncs *ifuncs, uint64_t resolver)
{
    const pp_ifunc *best = NULL;
    for (size_t i = 0; i < ifuncs->count; i++) {
        const pp_ifunc *next = &ifuncs->list[i];
        if (next->resolver == resolver && (best == NULL || precedes(next, best))) {
            best = next;
        }
    }
    return best;
}
