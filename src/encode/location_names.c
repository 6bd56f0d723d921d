/* SPDX-License-Identifier: MIT
 *
 * location_names.c: walks locations and mappings side by side in ascending order.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no locks).
 * Tested by: unit.proto, unit.text_rows, e2e.lines
 */
#include "encode/location_names.h"

#include "base/key_sort.h"
#include "demangle/demangler.h"
#include "symbol/known_names.h"
#include "sys/apart.h"

#include <errno.h>

typedef struct finder {
    const pp_profile *profile;
    pp_location_table *table;
    pp_arena *arena;
    pp_location_names *names;
    const pp_keyed *mappings;    /* ascending */
    const pp_keyed *locations;   /* ascending */
    pp_lines_finder *find_lines; /* NULL = no lines */
    bool placed;                 /* all of them */
} finder;

static const pp_keyed *sorted_locations(const finder *f)
{
    uint32_t count = f->table->count;
    pp_keyed *sorted = pp_arena_array(f->arena, 2 * (size_t)count, sizeof(*sorted));
    if (sorted == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = (pp_keyed){f->table->locations[i].address, i};
    }
    pp_key_sort(sorted, sorted + count, count);
    return sorted;
}

static const pp_keyed *sorted_mappings(const finder *f)
{
    size_t count = f->profile->mapping_count;
    pp_keyed *sorted = pp_arena_array(f->arena, 2 * count, sizeof(*sorted));
    if (sorted == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = (pp_keyed){f->profile->mappings[i].start, i};
    }
    pp_key_sort(sorted, sorted + count, count);
    return sorted;
}

/*
 * Joins a symbol and lines. The symbol keeps its name, as in profiles without lines; a symbol
 * without a name takes the name of the outermost function. Lines of a nameless function are
 * dropped, because readers cannot use them.
 */
static void unite(pp_symbol *symbol, pp_lines *lines)
{
    if (lines->count == 0) {
        return;
    }
    pp_line *outermost = &lines->line[lines->count - 1];
    if ((symbol->name == NULL || symbol->is_place) && outermost->function != NULL) {
        *symbol = (pp_symbol){.name = outermost->function, .entry = lines->entry};
    }
    outermost->function = symbol->name;
    if (symbol->name == NULL) {
        lines->count = 0;
    }
}

/* Finds the lines of `count` locations from `first` on, which are in one mapping and have their
 * symbols already. */
static bool line_run(const finder *f, uint32_t mapping, uint32_t first, const uintptr_t *addresses,
                     uint32_t count)
{
    pp_lines *lines = pp_arena_array(f->arena, count, sizeof(*lines));
    if (lines == NULL) {
        return false;
    }
    f->names->has_lines[mapping] =
        f->find_lines(&f->profile->mappings[mapping], addresses, count, lines, f->arena);
    for (uint32_t i = 0; i < count; i++) {
        size_t index = f->locations[first + i].index;
        unite(&f->names->symbols[index], &lines[i]);
        f->names->lines[index] = lines[i];
    }
    return true;
}

/* Names the locations first .. end - 1, which are in one mapping. */
static bool name_run(const finder *f, uint32_t mapping, uint32_t first, uint32_t end)
{
    uint32_t count = end - first;
    uintptr_t *addresses = pp_arena_array(f->arena, count, sizeof(*addresses));
    pp_symbol *symbols = pp_arena_array(f->arena, count, sizeof(*symbols));
    if (addresses == NULL || symbols == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        addresses[i] = f->locations[first + i].key;
    }
    pp_known_names_resolve(f->profile->mappings, f->profile->mapping_count, mapping, addresses,
                           count, symbols, f->arena);
    for (uint32_t i = 0; i < count; i++) {
        f->names->symbols[f->locations[first + i].index] = symbols[i];
    }
    return f->find_lines == NULL || line_run(f, mapping, first, addresses, count);
}

/* Handles the locations of one mapping together, or those between two mappings. */
static bool place_all(const finder *f)
{
    const pp_profile *profile = f->profile;
    size_t mapping_count = profile->mapping_count;
    uint32_t location_count = f->table->count;
    size_t next = 0; /* the first mapping that starts above the address */
    for (uint32_t i = 0, end; i < location_count; i = end) {
        while (next < mapping_count && f->mappings[next].key <= f->locations[i].key) {
            next++;
        }
        uint32_t index = next == 0 ? 0 : (uint32_t)f->mappings[next - 1].index;
        const pp_mapping *mapping = next == 0 ? NULL : &profile->mappings[index];
        if (mapping != NULL && f->locations[i].key >= mapping->limit) {
            mapping = NULL;
        }

        uintptr_t limit = next < mapping_count ? f->mappings[next].key : UINTPTR_MAX;
        if (mapping != NULL && mapping->limit < limit) {
            limit = mapping->limit;
        }
        if (mapping == NULL && f->names->unknown_id == 0) {
            f->names->unknown_id = (uint32_t)mapping_count + 1;
        }
        uint32_t mapping_id = mapping != NULL ? index + 1 : f->names->unknown_id;
        for (end = i; end < location_count && (end == i || f->locations[end].key < limit); end++) {
            f->table->locations[f->locations[end].index].mapping = mapping_id;
        }

        if (mapping != NULL && profile->symbolize != PP_SYMBOLIZE_NONE &&
            !name_run(f, index, i, end)) {
            return false;
        }
    }
    return true;
}

static void find_all(void *of_finder)
{
    finder *f = of_finder;
    if (f->profile->symbolize == PP_SYMBOLIZE_LINES) {
        f->find_lines = pp_lines_begin();
    }
    f->placed = place_all(f);
}

int pp_location_names_find(const pp_profile *profile, pp_location_table *table, pp_arena *arena,
                           pp_location_names *names)
{
    finder f = {.profile = profile, .table = table, .arena = arena, .names = names};
    *names = (pp_location_names){0};
    names->ascending = pp_arena_array(arena, table->count, sizeof(*names->ascending));
    names->symbols = pp_arena_array(arena, table->count, sizeof(*names->symbols));
    names->lines = pp_arena_array(arena, table->count, sizeof(*names->lines));
    names->has_lines = pp_arena_array(arena, profile->mapping_count, sizeof(*names->has_lines));
    f.mappings = sorted_mappings(&f);
    f.locations = sorted_locations(&f);
    if (names->ascending == NULL || names->symbols == NULL || names->lines == NULL ||
        names->has_lines == NULL || f.mappings == NULL || f.locations == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        names->ascending[i] = (uint32_t)f.locations[i].index;
    }
    pp_apart(find_all, &f);
    return f.placed ? 0 : -ENOMEM;
}

/* Returns the demangled names. The outermost function is the symbol, whose text exists already. */
static const char **demangle_lines(const pp_lines *lines, const char *text, pp_demangler *demangler)
{
    const char **texts = pp_arena_array(demangler->arena, lines->count, sizeof *texts);
    for (uint32_t i = 0; texts != NULL && i < lines->count; i++) {
        const char *name = lines->line[i].function;
        texts[i] = i + 1 == lines->count && text != NULL ? text
                   : name != NULL                        ? pp_demangle(demangler, name)
                                                         : NULL;
    }
    return texts;
}

int pp_location_names_demangle(pp_location_names *names, uint32_t count, pp_arena *arena)
{
    pp_demangler demangler = pp_demangler_begin(arena);
    const char *last = NULL; /* adjacent locations share a function, and then its text */
    const char *text = NULL;
    names->demangled = pp_arena_array(arena, count, sizeof(*names->demangled));
    names->demangled_lines = pp_arena_array(arena, count, sizeof(*names->demangled_lines));
    if (names->demangled == NULL || names->demangled_lines == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = names->symbols[names->ascending[i]].name;
        if (name != NULL && name != last) {
            text = pp_demangle(&demangler, name);
        }
        last = name;
        uint32_t index = names->ascending[i];
        names->demangled[index] = name != NULL ? text : NULL;
        if (names->lines[index].count > 0) {
            names->demangled_lines[index] =
                demangle_lines(&names->lines[index], names->demangled[index], &demangler);
        }
    }
    return arena->failed ? -ENOMEM : 0;
}
