/* SPDX-License-Identifier: MIT
 *
 * names.c: maps addresses to function names, in one pass over one symbol table (contract in
 * names.h).
 *
 * A profile has hundreds of addresses, a symbol table has hundreds of thousands of entries. So the
 * addresses are sorted and searched, and the table is streamed through a small window. Each address
 * keeps two candidates:
 *
 *   covering   the best symbol whose [st_value, st_value + st_size) includes the address
 *   preceding  the nearest symbol at or below it, which counts only if that symbol has no size
 *
 * The pass stores a preceding candidate only at the first address at or above the symbol; a later
 * loop copies it to the following addresses. So a symbol costs one binary search, however many
 * addresses follow it.
 *
 * Zone: NORMAL, and the fatal-signal writer (open, fstat, pread, mmap, munmap, close,
 *       process_vm_readv; no locks).
 * Owns: a scratch arena for the duration of each call.
 */
#include "symbol/names.h"

#include "elf/elf.h"
#include "symbol/wrapped_list.h"
#include "sys/own_files.h"
#include "sys/program.h"

#include <string.h>

enum {
    WINDOW_SYMBOLS = 1024,  /* 24 KiB of the table in one read */
    NAME_FIRST_READ = 256,  /* bytes; one read suffices for nearly every name */
    NAME_MAX = 64 * 1024,   /* a longer name (none is known) is cut */
    COVER_BUDGET = 64,      /* symbols over one address, on average; a table with more is corrupt */
    NAMES_PER_ADDRESS = 512 /* bytes of names that take as long to read as one single name */
};

static const char debug_root[] = "/usr/lib/debug";

typedef struct candidate {
    uint64_t value; /* link-time address of the symbol */
    uint32_t name;  /* offset in the names; never 0 */
    uint16_t section;
    uint8_t rank;  /* lower is better; see rank_of() */
    bool is_typed; /* as a function */
    bool found;
} candidate;

typedef struct resolver {
    const pp_elf *elf;
    pp_elf_symbols table;
    bool is_dynamic; /* the table is the loader's */
    uintptr_t bias;
    const uintptr_t *addresses;
    size_t count;
    candidate *covering;
    candidate *preceding;
    uint64_t budget; /* candidates that may still be weighed: limits the work on corrupt tables */
    char *names;     /* all names, or NULL: each name is read on demand */
    char *name[2];   /* two names to compare, NAME_MAX bytes each */
    uint32_t compared[2]; /* the last two compared names: addresses of one function often need */
    bool precedes;        /* the same comparison; and its result */
} resolver;

/* ---- Names --------------------------------------------------------------------------------- */

/* Copies bytes of the names; `offset` and `size` are inside the names. */
static size_t copy_names(const resolver *r, uint64_t offset, char *to, size_t size)
{
    if (r->names == NULL) {
        return pp_elf_read_some(r->elf, r->table.names_offset + offset, to, size);
    }
    memcpy(to, r->names + offset, size);
    return size;
}

/* In a static program for musl a hook has the name to which the linker's --wrap redirects calls. It is shown under the
 * name that the program calls. */
static size_t take_prefix_off(char *name, size_t length)
{
    static const char prefix[] = "__wrap_";
#define WRAPPED(name) #name,
    static const char *const wrapped[] = {PP_WRAPPED_LIST(WRAPPED)};
    const size_t taken = sizeof prefix - 1;
    if (length <= taken || memcmp(name, prefix, taken) != 0) {
        return length;
    }
    for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) {
        if (strcmp(name + taken, wrapped[i]) == 0) {
            memmove(name, name + taken, length - taken + 1);
            return length - taken;
        }
    }
    return length;
}

/* Reads the name at `offset` into `to`, NUL-terminated and without its version; cuts a name of more
 * than `room` - 1 bytes. Returns its length. */
static size_t read_name(const resolver *r, uint32_t offset, char *to, size_t room)
{
    size_t length = 0;
    size_t chunk = NAME_FIRST_READ;
    bool complete = offset >= r->table.names_size;
    while (!complete && length < room - 1) {
        uint64_t left = r->table.names_size - offset - length;
        if (chunk > room - 1 - length) {
            chunk = room - 1 - length;
        }
        if (chunk > left) {
            chunk = (size_t)left;
        }
        size_t got = copy_names(r, offset + length, to + length, chunk);
        size_t part = strnlen(to + length, got);
        length += part;
        complete = part < chunk || chunk == left;
        chunk *= 4;
    }
    to[length] = '\0';
    char *version = memchr(to, '@', length);
    if (version != NULL && version != to) {
        *version = '\0';
        length = (size_t)(version - to);
    }
    return take_prefix_off(to, length);
}

static int compare_names(const char *left, const char *right)
{
    size_t left_underscores = strspn(left, "_");
    size_t right_underscores = strspn(right, "_");
    if (left_underscores != right_underscores) {
        return left_underscores < right_underscores ? -1 : 1;
    }
    return strcmp(left, right);
}

/* Whether the name at `left` is better than the one at `right`. Reads whole names only if their
 * beginnings are equal. */
static bool name_precedes(resolver *r, uint32_t left, uint32_t right)
{
    if (left == right) {
        return false;
    }
    if (left == r->compared[0] && right == r->compared[1]) {
        return r->precedes;
    }
    size_t room = NAME_FIRST_READ;
    size_t length = read_name(r, left, r->name[0], room);
    read_name(r, right, r->name[1], room);
    int order = compare_names(r->name[0], r->name[1]);
    if (order == 0 && length == room - 1) {
        read_name(r, left, r->name[0], NAME_MAX);
        read_name(r, right, r->name[1], NAME_MAX);
        order = compare_names(r->name[0], r->name[1]);
    }
    r->compared[0] = left;
    r->compared[1] = right;
    r->precedes = order < 0;
    return r->precedes;
}

/* ---- Candidates ---------------------------------------------------------------------------- */

enum {
    RANK_LOCAL = 2, /* from here on: invisible to other modules */
    NO_SIZE_MAX =
        256,         /* bytes of a function without a size, where the next one may have no symbol */
    RANK_NO_SIZE = 4 /* added to the rank of a symbol without a size */
};

/*
 * A symbol with a size comes before one without; then global before weak before local. A hidden
 * symbol is last: it is a name for internal use, and the linker makes it local except in fully
 * static programs.
 */
static uint8_t rank_of(const Elf64_Sym *symbol)
{
    unsigned binding = ELF64_ST_BIND(symbol->st_info);
    unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    uint8_t rank = binding == STB_WEAK ? 1 : binding == STB_LOCAL ? RANK_LOCAL : 0;
    if (binding != STB_LOCAL && (visibility == STV_HIDDEN || visibility == STV_INTERNAL)) {
        rank = 3;
    }
    return symbol->st_size == 0 ? (uint8_t)(rank + RANK_NO_SIZE) : rank;
}

static bool is_local(const candidate *symbol)
{
    return symbol->rank % RANK_NO_SIZE >= RANK_LOCAL;
}

/*
 * Accepts functions, and untyped labels that are visible outside of their file (hand-written
 * assembly). Local untyped labels are jump targets within a function, or mark code and data on ARM.
 */
static bool is_function(const Elf64_Sym *symbol)
{
    if (symbol->st_name == 0 || symbol->st_shndx == SHN_UNDEF ||
        (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX)) {
        return false;
    }
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    if (type == STT_NOTYPE) {
        return ELF64_ST_BIND(symbol->st_info) != STB_LOCAL;
    }
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* The index of the first address at or above `address`. */
static size_t lower_bound(const resolver *r, uintptr_t address)
{
    const uintptr_t *base = r->addresses;
    size_t left = r->count;
    while (left > 1) { /* no branch but the loop's: no processor could predict it */
        size_t half = left / 2;
        base += base[half - 1] < address ? half : 0;
        left -= half;
    }
    return (size_t)(base - r->addresses) + (*base < address);
}

static void consider_covering(resolver *r, candidate *best, const candidate *next)
{
    if (!best->found || next->rank < best->rank ||
        (next->rank == best->rank && name_precedes(r, next->name, best->name))) {
        *best = *next;
    }
}

static void consider_preceding(resolver *r, candidate *nearest, const candidate *next)
{
    if (!nearest->found || next->value > nearest->value) {
        *nearest = *next;
    } else if (next->value == nearest->value) {
        consider_covering(r, nearest, next);
    }
}

static void weigh_symbol(resolver *r, const Elf64_Sym *symbol)
{
    uintptr_t start = symbol->st_value + r->bias;
    size_t first = lower_bound(r, start);
    if (first == r->count) {
        return;
    }
    candidate next = {
        .value = symbol->st_value,
        .name = symbol->st_name,
        .section = symbol->st_shndx,
        .rank = rank_of(symbol),
        .is_typed = ELF64_ST_TYPE(symbol->st_info) != STT_NOTYPE,
        .found = true,
    };
    consider_preceding(r, &r->preceding[first], &next);
    uintptr_t limit;
    if (__builtin_add_overflow(start, symbol->st_size, &limit)) {
        limit = UINTPTR_MAX;
    }
    for (size_t i = first; i < r->count && r->addresses[i] < limit && r->budget > 0; i++) {
        consider_covering(r, &r->covering[i], &next);
        r->budget--;
    }
}

static void weigh_table(resolver *r, Elf64_Sym *window)
{
    for (uint64_t done = 0; done < r->table.count;) {
        uint64_t left = r->table.count - done;
        size_t wanted = left < WINDOW_SYMBOLS ? (size_t)left : WINDOW_SYMBOLS;
        size_t got = pp_elf_read_some(r->elf, r->table.offset + done * sizeof(*window), window,
                                      wanted * sizeof(*window)) /
                     sizeof(*window);
        for (size_t i = 0; i < got; i++) {
            if (is_function(&window[i])) {
                weigh_symbol(r, &window[i]);
            }
        }
        if (got < wanted) {
            break;
        }
        done += got;
    }
}

/* ---- Results --------------------------------------------------------------------------------- */

/* A symbol without a size ends at the end of its section at the latest. The table of the loader lacks the functions that
 * may come next: after musl's memset, the last one without a size, are those that make system calls. A label without a type
 * is NASM's, which knows no sizes: loops of video codecs have up to 4 KiB, and all of them have such labels. */
static bool within_section(const resolver *r, const candidate *symbol, uintptr_t address)
{
    uint64_t start, limit;
    if (!pp_elf_section_range(r->elf, symbol->section, &start, &limit)) {
        return r->elf->section_count == 0; /* an image without sections: the mapping is the limit */
    }
    uint64_t own_address = address - r->bias;
    bool is_near = !r->is_dynamic || !symbol->is_typed || own_address - symbol->value < NO_SIZE_MAX;
    return own_address >= start && own_address < limit && is_near;
}

static size_t store_names(resolver *r, pp_symbol *symbols, pp_arena *arena)
{
    size_t resolved = 0;
    candidate preceding = {.found = false};
    uint32_t last_offset = 0;
    const char *last_name = NULL;
    for (size_t i = 0; i < r->count; i++) {
        if (r->preceding[i].found) {
            preceding = r->preceding[i]; /* nearer than any candidate of a lower address */
        }
        const candidate *best = &r->covering[i];
        if (!best->found) {
            best = &preceding;
            if (!best->found || best->rank < RANK_NO_SIZE ||
                !within_section(r, best, r->addresses[i])) {
                continue;
            }
        }
        if (best->name != last_offset) {
            size_t length = read_name(r, best->name, r->name[0], NAME_MAX);
            last_name = length > 0 ? pp_arena_text(arena, r->name[0], length) : NULL;
            last_offset = best->name;
        }
        if (last_name != NULL) {
            symbols[i] = (pp_symbol){
                .name = last_name, .entry = best->value + r->bias, .is_local = is_local(best)};
            resolved++;
        }
    }
    return resolved;
}

/* For many addresses, one large read is cheaper than a small read for each name. */
static void load_names(resolver *r, pp_arena *scratch)
{
    if (r->table.names_size / NAMES_PER_ADDRESS > r->count) {
        return;
    }
    size_t size = (size_t)r->table.names_size;
    char *names = pp_arena_alloc(scratch, size);
    if (names != NULL && pp_elf_read(r->elf, r->table.names_offset, names, size)) {
        r->names = names;
    }
}

static size_t resolve_from(const pp_elf *elf, const pp_elf_symbols *table, bool is_dynamic,
                           uintptr_t bias, const uintptr_t *addresses, size_t count,
                           pp_symbol *symbols, pp_arena *arena)
{
    pp_arena scratch = PP_ARENA_INIT;
    resolver r = {
        .elf = elf,
        .table = *table,
        .is_dynamic = is_dynamic,
        .bias = bias,
        .addresses = addresses,
        .count = count,
        .covering = pp_arena_array(&scratch, count, sizeof(candidate)),
        .preceding = pp_arena_array(&scratch, count, sizeof(candidate)),
        .budget = (uint64_t)count * COVER_BUDGET + table->count,
        .name = {pp_arena_alloc(&scratch, NAME_MAX), pp_arena_alloc(&scratch, NAME_MAX)},
    };
    Elf64_Sym *window = pp_arena_array(&scratch, WINDOW_SYMBOLS, sizeof(*window));
    size_t resolved = 0;
    if (!scratch.failed) {
        load_names(&r, &scratch);
        weigh_table(&r, window);
        resolved = store_names(&r, symbols, arena);
    }
    if (scratch.failed) {
        pp_elf_note_trouble();
    }
    pp_arena_release(&scratch);
    return resolved;
}

/* ---- Which file ---------------------------------------------------------------------------- */

static bool is_same_build(const pp_elf *elf, const pp_mapping *mapping)
{
    uint8_t found[PP_BUILD_ID_MAX];
    uint8_t found_size = 0;
    if (!pp_elf_file_build_id(elf, found, &found_size)) {
        found_size = 0;
    }
    return found_size == mapping->build_id_size &&
           memcmp(found, mapping->build_id, found_size) == 0;
}

/* Keeps the opened ELF (`error` is 0) if its build id is the mapping's. */
static bool keep(pp_elf *elf, int error, const pp_mapping *mapping)
{
    if (error != 0) {
        return false;
    }
    if (is_same_build(elf, mapping)) {
        return true;
    }
    pp_elf_close(elf);
    return false;
}

/* The file's first byte is at the bias if the file is linked to address 0; else it is where the
 * mapping's offset says, if no segment is moved. */
static bool open_loaded(pp_elf *elf, const pp_mapping *mapping)
{
    uintptr_t bias = mapping->bias, by_offset = mapping->start - (uintptr_t)mapping->offset;
    return (bias != 0 &&
            keep(elf, pp_elf_open_loaded(elf, mapping->memory, bias, bias), mapping)) ||
           keep(elf, pp_elf_open_loaded(elf, mapping->memory, by_offset, bias), mapping);
}

/*
 * Opens the ELF of `mapping`. A program that was replaced on disk while it runs (an upgrade) is
 * still accessible to its process; the build id shows whether this mapping is the program. A file
 * that cannot be opened any more (a sandbox, another root) is read from its loaded segments.
 */
int pp_symbols_open(pp_elf *elf, const pp_mapping *mapping)
{
    if (mapping->in_memory) {
        return pp_elf_open_image(elf, (const void *)(mapping->start - mapping->offset),
                                 mapping->limit - (mapping->start - mapping->offset));
    }
    if (mapping->path == NULL || mapping->path[0] != '/') { /* "", "[heap]", ...: no file */
        bool is_vdso = mapping->path != NULL && strcmp(mapping->path, "[vdso]") == 0;
        return is_vdso && open_loaded(elf, mapping) ? 0 : -1; /* another process's */
    }
    const pp_files *files = mapping->files;
    const char *program = files != NULL ? files->program : pp_program_file();
    bool found =
        keep(elf, pp_elf_open(elf, files, mapping->path), mapping) ||
        (mapping->build_id_size != 0 && keep(elf, pp_elf_open(elf, files, program), mapping)) ||
        open_loaded(elf, mapping);
    return found ? 0 : -1;
}

size_t pp_symbols_resolve(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                          pp_symbol *symbols, pp_arena *arena)
{
    if (count == 0) {
        return 0;
    }
    memset(symbols, 0, count * sizeof(*symbols));
    pp_elf object, debug;
    if (pp_symbols_open(&object, mapping) != 0) {
        return 0;
    }

    size_t resolved = 0;
    pp_elf_symbols table;
    if (pp_elf_symbols_by_section(&object, SHT_SYMTAB, &table)) {
        resolved =
            resolve_from(&object, &table, false, mapping->bias, addresses, count, symbols, arena);
    } else if (!mapping->in_memory &&
               pp_elf_open_debug(&debug, mapping->files, debug_root, mapping->build_id,
                                 mapping->build_id_size) == 0) {
        if (pp_elf_symbols_by_section(&debug, SHT_SYMTAB, &table)) {
            resolved = resolve_from(&debug, &table, false, mapping->bias, addresses, count, symbols,
                                    arena);
        }
        pp_elf_close(&debug);
    }
    if (resolved == 0 && (pp_elf_symbols_by_section(&object, SHT_DYNSYM, &table) ||
                          pp_elf_symbols_by_dynamic(&object, &table))) {
        resolved =
            resolve_from(&object, &table, true, mapping->bias, addresses, count, symbols, arena);
    }
    pp_elf_close(&object);
    return resolved;
}
