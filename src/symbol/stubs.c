/* SPDX-License-Identifier: MIT
 *
 * stubs.c: sorts the stubs that were hit by slot or number, then passes once over the relocations.
 *
 * Zone: NORMAL, and the fatal-signal writer (pread only).
 * Owns: a scratch arena for the duration of a call.
 * Tested by: unit.places, e2e.stripped_names
 */
#include "symbol/stubs.h"

#include "arch/linkage.h"
#include "base/sort.h"
#include "elf/relocations.h"

#include <string.h>

static const char suffix[] = "@plt";

/* A stub that was hit. */
typedef struct hit {
    pp_stub stub;
    uint64_t start;
    size_t index; /* of the address */
    const char *name;
} hit;

typedef struct namer {
    const pp_elf *elf;
    const pp_ifuncs *ifuncs;
    pp_elf_symbols symbols;
    pp_arena *arena;
    pp_arena *scratch;
    hit *hits; /* ascending by slot, then by number */
    size_t count;
} namer;

static int compare_stubs(const pp_stub *a, const pp_stub *b)
{
    if (a->slot != b->slot) {
        return a->slot < b->slot ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_hits(const void *left, const void *right, void *context)
{
    (void)context;
    return compare_stubs(&((const hit *)left)->stub, &((const hit *)right)->stub);
}

/* ---- Which stubs --------------------------------------------------------------------------- */

static bool read_stub(const namer *n, const pp_elf_stubs *section, uint64_t start, uint64_t size,
                      hit *found)
{
    uint8_t code[PP_STUB_SIZE];
    size_t got = pp_elf_read_some(n->elf, section->offset + (start - section->start), code, size);
    found->start = start;
    return pp_stub_read(code, got, start, &found->stub);
}

static bool find_by_size(const namer *n, const pp_elf_stubs *section, uint64_t address, hit *found)
{
    uint64_t size = section->entry_size > 0 && section->entry_size < PP_STUB_SIZE
                        ? section->entry_size
                        : PP_STUB_SIZE;
    uint64_t before = (address - section->start) / size * size;
    return read_stub(n, section, section->start + before, size, found);
}

/* The nearest jump before, and the landing in front of it. */
static bool find_by_code(const namer *n, const pp_elf_stubs *section, uint64_t address, hit *found)
{
    uint64_t into = address - section->start;
    uint64_t start = address - into % PP_STUB_STEP;
    uint64_t least = into > PP_STUB_SIZE ? address - PP_STUB_SIZE : section->start;
    while (!read_stub(n, section, start, PP_STUB_SIZE, found)) {
        if (start < least + PP_STUB_STEP) {
            return false;
        }
        start -= PP_STUB_STEP;
    }
    hit with_landing = *found;
    if (start >= section->start + PP_STUB_STEP &&
        read_stub(n, section, start - PP_STUB_STEP, PP_STUB_SIZE, &with_landing)) {
        *found = with_landing;
    }
    return true;
}

static void note_hit(namer *n, const pp_elf_stubs *section, uint64_t address, size_t index)
{
    hit *next = &n->hits[n->count];
    *next = (hit){.index = index};
    n->count += PP_STUBS_VARY ? find_by_code(n, section, address, next)
                              : find_by_size(n, section, address, next);
}

static void find_hits(namer *n, const uint64_t *addresses, size_t count)
{
    pp_elf_stubs section;
    for (uint64_t at = 0; pp_elf_stubs_next(n->elf, &at, &section);) {
        for (size_t i = 0; i < count && n->count < count; i++) {
            if (addresses[i] >= section.start && addresses[i] < section.limit) {
                note_hit(n, &section, addresses[i], i);
            }
        }
    }
}

/* ---- Their names --------------------------------------------------------------------------- */

static const char *name_of(const namer *n, const Elf64_Rela *relocation)
{
    if (ELF64_R_TYPE(relocation->r_info) != PP_RELOCATION_IRELATIVE) {
        return pp_relocations_symbol_name(n->elf, &n->symbols, relocation, n->scratch);
    }
    const pp_ifunc *ifunc = pp_ifuncs_of(n->ifuncs, (uint64_t)relocation->r_addend);
    return ifunc != NULL ? ifunc->name : NULL;
}

static const char *with_suffix(const char *name, pp_arena *arena)
{
    size_t length = strlen(name);
    char *text = pp_arena_alloc(arena, length + sizeof(suffix));
    if (text == NULL) {
        return NULL;
    }
    memcpy(text, name, length);
    memcpy(text + length, suffix, sizeof(suffix));
    return text;
}

/* Gives all hits of one stub the same text. */
static void name_hits(namer *n, const pp_stub *stub, const Elf64_Rela *relocation)
{
    size_t low = 0, high = n->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_stubs(&n->hits[middle].stub, stub) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == n->count || compare_stubs(&n->hits[low].stub, stub) != 0) {
        return;
    }
    const char *name = name_of(n, relocation);
    const char *text = name != NULL ? with_suffix(name, n->arena) : NULL;
    for (; low < n->count && compare_stubs(&n->hits[low].stub, stub) == 0; low++) {
        n->hits[low].name = text;
    }
}

static void weigh_relocation(void *context, const Elf64_Rela *relocation, uint64_t number)
{
    namer *n = context;
    pp_stub by_slot = {.slot = relocation->r_offset};
    if (by_slot.slot != 0) {
        name_hits(n, &by_slot, relocation);
    }
    pp_stub by_number = {.number = (uint32_t)number};
    if (number <= UINT32_MAX) {
        name_hits(n, &by_number, relocation);
    }
}

void pp_stubs_name(const pp_elf *elf, const pp_ifuncs *ifuncs, const uint64_t *addresses,
                   size_t count, pp_stub_name *names, pp_arena *arena)
{
    pp_arena scratch = PP_ARENA_INIT;
    namer n = {.elf = elf, .ifuncs = ifuncs, .arena = arena, .scratch = &scratch};
    memset(names, 0, count * sizeof(*names));
    n.hits = pp_arena_array(&scratch, count, sizeof(*n.hits));
    if (n.hits != NULL) {
        find_hits(&n, addresses, count);
    }
    if (n.count > 0 && pp_relocations_symbols(elf, &n.symbols)) {
        pp_sort(n.hits, n.count, sizeof(*n.hits), compare_hits, NULL);
        pp_relocations_each(elf, weigh_relocation, &n, &scratch);
    }
    for (size_t i = 0; i < n.count; i++) {
        names[n.hits[i].index] = (pp_stub_name){n.hits[i].name, n.hits[i].start};
    }
    pp_arena_release(&scratch);
}
