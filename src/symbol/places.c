/* SPDX-License-Identifier: MIT
 *
 * places.c: names the remaining addresses by stubs, by the loader's choices (ifuncs), and by
 * extents.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, stat, pread, close, process_vm_readv).
 * Owns: a scratch arena for the duration of a call.
 */
#include "symbol/places.h"

#include "base/path.h"
#include "base/text.h"
#include "symbol/extents.h"
#include "symbol/ifuncs.h"
#include "symbol/stubs.h"
#include "sys/apart.h"

#include <string.h>

enum { ENTRY_BYTES = 48 /* _start: glibc's has 34 to 48 */ };

/* The addresses without a name, and what is known of each. */
typedef struct namer {
    const pp_mapping *mappings;
    size_t mapping_count;
    size_t index;
    const pp_elf *elf;
    size_t count;
    uint64_t *own;    /* link-time addresses, ascending */
    size_t *position; /* of the address among the caller's */
    pp_extent *extents;
    pp_extent *wanted; /* the extents without duplicates and unknown ones */
    pp_stub_name *stubs;
    pp_ifuncs ifuncs;
    pp_arena *arena;   /* the caller's */
    pp_arena *scratch; /* for the duration of the call */
} namer;

static bool list_nameless(namer *n, const uintptr_t *addresses, const pp_symbol *symbols,
                          size_t count)
{
    n->own = pp_arena_array(n->scratch, count, sizeof(*n->own));
    n->position = pp_arena_array(n->scratch, count, sizeof(*n->position));
    n->extents = pp_arena_array(n->scratch, count, sizeof(*n->extents));
    n->wanted = pp_arena_array(n->scratch, count, sizeof(*n->wanted));
    n->stubs = pp_arena_array(n->scratch, count, sizeof(*n->stubs));
    if (n->scratch->failed) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (symbols[i].name != NULL) {
            continue;
        }
        n->own[n->count] = addresses[i] - n->mappings[n->index].bias;
        n->position[n->count++] = i;
    }
    return n->count > 0;
}

/* The first instructions of ld.so, and of programs with an old libc, have no entry in the unwind
 * table: they are a function of their own, as for the unwinder (modules/modules.c). */
static void find_entry_code(namer *n)
{
    uint64_t entry = n->elf->header.e_entry;
    for (size_t i = 0; i < n->count; i++) {
        if (n->extents[i].limit == 0 && entry != 0 && n->own[i] >= entry &&
            n->own[i] - entry < ENTRY_BYTES) {
            n->extents[i] = (pp_extent){entry, entry + ENTRY_BYTES};
        }
    }
}

static void find_targets(namer *n)
{
    size_t count = 0;
    if (n->ifuncs.count == 0) {
        return;
    }
    for (size_t i = 0; i < n->count; i++) {
        bool known = n->extents[i].limit == 0 || n->stubs[i].name != NULL;
        if (!known && (count == 0 || n->wanted[count - 1].start != n->extents[i].start)) {
            n->wanted[count++] = n->extents[i];
        }
    }
    if (count > 0) {
        pp_ifuncs_find(&n->ifuncs, n->elf, n->mappings, n->mapping_count, n->index, n->wanted,
                       count);
    }
}

/* Returns [name of the file]+0x<address>. Omits the kernel's " (deleted)"; [vdso] has its own
 * brackets. */
static const char *place_text(const namer *n, uint64_t address)
{
    static const char deleted[] = " (deleted)";
    const char *path = n->mappings[n->index].path;
    const char *base = pp_base_name(path);
    size_t length = strlen(base);
    size_t tail = sizeof(deleted) - 1;
    if (length > tail && memcmp(base + length - tail, deleted, tail) == 0) {
        length -= tail;
    }
    bool bracketed = *base == '[';
    char digits[PP_HEX_BYTES];
    const char *hex = pp_hex(address, digits);
    size_t hex_length = strlen(hex);
    char *text = pp_arena_alloc(n->arena, length + hex_length + sizeof("[]+0x"));
    if (text == NULL) {
        return NULL;
    }
    char *end = text;
    if (!bracketed) {
        *end++ = '[';
    }
    /* NOLINTBEGIN(bugprone-not-null-terminated-result): the arena's memory is zeros */
    memcpy(end, base, length);
    end += length;
    if (!bracketed) {
        *end++ = ']';
    }
    memcpy(end, "+0x", 3);
    memcpy(end + 3, hex, hex_length);
    /* NOLINTEND(bugprone-not-null-terminated-result) */
    return text;
}

/* Returns the best name of nameless address `i`. Adjacent addresses of one function share the text
 * of `last`. */
static pp_symbol name_of(const namer *n, size_t i, const pp_symbol *last)
{
    uintptr_t bias = n->mappings[n->index].bias;
    const pp_extent *extent = &n->extents[i];
    if (n->stubs[i].name != NULL) {
        return (pp_symbol){.name = n->stubs[i].name, .entry = n->stubs[i].start + bias};
    }
    if (extent->limit == 0) {
        return (pp_symbol){0};
    }
    const pp_ifunc *ifunc = pp_ifuncs_at(&n->ifuncs, extent, n->own[i]);
    pp_symbol symbol = {.is_place = ifunc == NULL};
    symbol.entry = (ifunc != NULL ? ifunc->target : extent->start) + bias;
    if (last->name != NULL && last->entry == symbol.entry && last->is_place == symbol.is_place) {
        symbol.name = last->name;
    } else if (ifunc != NULL) {
        symbol.name = pp_arena_text(n->arena, ifunc->name, strlen(ifunc->name));
    } else {
        symbol.name = place_text(n, extent->start);
    }
    return symbol;
}

/* Returns the number of addresses whose name is more than a place. */
static size_t name_all(const namer *n, pp_symbol *symbols)
{
    size_t named = 0;
    pp_symbol last = {0};
    for (size_t i = 0; i < n->count; i++) {
        last = name_of(n, i, &last);
        symbols[n->position[i]] = last;
        named += last.name != NULL && !last.is_place;
    }
    return named;
}

size_t pp_places_name(const pp_mapping *mappings, size_t mapping_count, size_t index,
                      const uintptr_t *addresses, size_t count, pp_symbol *symbols, pp_arena *arena)
{
    pp_arena scratch = PP_ARENA_INIT;
    pp_elf elf;
    namer n = {
        .mappings = mappings,
        .mapping_count = mapping_count,
        .index = index,
        .elf = &elf,
        .arena = arena,
        .scratch = &scratch,
    };
    size_t named = 0;
    if (pp_symbols_open(&elf, &mappings[index]) != 0) {
        return 0;
    }
    if (list_nameless(&n, addresses, symbols, count)) {
        pp_extents_find(&elf, n.own, n.count, n.extents, &scratch);
        find_entry_code(&n);
        pp_ifuncs_read(&n.ifuncs, &elf, &scratch);
        pp_stubs_name(&elf, &n.ifuncs, n.own, n.count, n.stubs, arena);
        find_targets(&n);
        named = name_all(&n, symbols);
    }
    if (scratch.failed) {
        pp_elf_note_trouble();
    }
    pp_elf_close(&elf);
    pp_arena_release(&scratch);
    return named;
}

typedef struct question {
    const pp_mapping *mappings;
    size_t mapping_count, index;
    const uintptr_t *addresses;
    size_t count;
    pp_symbol *symbols;
    pp_arena *arena;
    size_t named;
} question;

static void resolve(void *of_question)
{
    question *q = of_question;
    q->named =
        pp_symbols_resolve(&q->mappings[q->index], q->addresses, q->count, q->symbols, q->arena);
    if (q->named < q->count) {
        q->named += pp_places_name(q->mappings, q->mapping_count, q->index, q->addresses, q->count,
                                   q->symbols, q->arena);
    }
}

size_t pp_places_resolve(const pp_mapping *mappings, size_t mapping_count, size_t index,
                         const uintptr_t *addresses, size_t count, pp_symbol *symbols,
                         pp_arena *arena)
{
    question q = {mappings, mapping_count, index, addresses, count, symbols, arena, 0};
    pp_apart(resolve, &q);
    return q.named;
}
