/* SPDX-License-Identifier: MIT
 *
 * module_mappings.c: makes the mappings of a profile from the seen objects and from code without an
 * object.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no loader; reads /proc/self/maps).
 * Owns: the head of the seen list.
 * Tested by: unit.modules
 */
#include "modules/modules.h"

#include "base/key_sort.h"
#include "modules/code_query.h"
#include "modules/maps.h"
#include "modules/modules_seen.h"
#include "modules/unseen_object.h"

#include <errno.h>
#include <string.h>

pp_seen *pp_modules_seen;

static bool overlaps_any(const pp_mapping *all, size_t count, uintptr_t start, uintptr_t limit)
{
    for (size_t i = 0; i < count; i++) {
        if (start < all[i].limit && all[i].start < limit) {
            return true;
        }
    }
    return false;
}

/* Adds the main program's objects, or all others. Newer ones come first: objects that they overlap
 * are gone. */
static void add_seen(pp_mapping *all, size_t *count, const pp_seen *list, bool main_program)
{
    for (const pp_seen *s = list; s != NULL; s = s->next) {
        const pp_mapping *m = &s->mapping;
        if (s->main_program == main_program && !overlaps_any(all, *count, m->start, m->limit)) {
            all[(*count)++] = *m;
        }
    }
}

static size_t count_lines(const char *text)
{
    size_t lines = 1;
    while ((text = strchr(text, '\n')) != NULL) {
        text++;
        lines++;
    }
    return lines;
}

/* `image`: the latest line with the beginning of a file. */
static void read_object(const pp_map_line *image, pp_mapping *mapping)
{
    if (*mapping->path == '/' && strcmp(image->path, mapping->path) == 0) {
        pp_unseen_object_read(image->start, mapping);
    }
}

static pp_mapping mapping_of(const pp_map_line *line)
{
    return (pp_mapping){.start = line->start,
                        .limit = line->limit,
                        .offset = line->offset,
                        .bias = line->start - (uintptr_t)line->offset,
                        .path = line->path};
}

static void add_unclaimed_code(pp_mapping *all, size_t *count, size_t capacity, char *text)
{
    pp_map_line line;
    pp_map_line image = {.path = ""};
    size_t objects = *count;
    while (*count < capacity && pp_maps_next(&text, &line)) {
        image = line.offset == 0 ? line : image;
        if (line.executable && !overlaps_any(all, objects, line.start, line.limit)) {
            all[(*count)++] = mapping_of(&line);
            read_object(&image, &all[*count - 1]);
        }
    }
}

/* Sorts by address, but puts the main binary's first segment first. */
static pp_mapping *order(pp_arena *arena, pp_mapping *all, size_t count, size_t main_count)
{
    pp_keyed *by_start = pp_arena_array(arena, 2 * (count + 1), sizeof *by_start);
    pp_mapping *ordered = pp_arena_array(arena, count + 1, sizeof *ordered);
    if (by_start == NULL || ordered == NULL) {
        return NULL;
    }
    pp_mapping *first = NULL;
    size_t rest = 0;
    for (size_t i = 0; i < main_count; i++) {
        if (first == NULL || all[i].start < first->start) {
            first = &all[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (&all[i] != first) {
            by_start[rest++] = (pp_keyed){all[i].start, i};
        }
    }
    pp_key_sort(by_start, by_start + count + 1, rest);
    size_t out = 0;
    if (first != NULL) {
        ordered[out++] = *first;
    }
    for (size_t i = 0; i < rest; i++) {
        ordered[out++] = all[by_start[i].index];
    }
    return ordered;
}

/* The mappings as they are collected: the main program's, those of other objects, other code. */
typedef struct collection {
    pp_mapping *all;
    size_t count, main_count;
} collection;

/* Collects those of the seen objects, with room for `more` others. */
static int begin(collection *c, const pp_seen *list, size_t more, pp_arena *arena)
{
    size_t capacity = more + 1;
    for (const pp_seen *s = list; s != NULL; s = s->next) {
        capacity++;
    }
    *c = (collection){.all = pp_arena_array(arena, capacity, sizeof *c->all)};
    if (c->all == NULL) {
        return -ENOMEM;
    }
    add_seen(c->all, &c->count, list, true);
    c->main_count = c->count;
    add_seen(c->all, &c->count, list, false);
    return 0;
}

/* False: there may be an object that nobody has seen; the text shows where it begins. */
static bool collect_by_query(collection *c, const pp_seen *list, pp_arena *arena)
{
    size_t line_count = 0;
    const pp_map_line *lines = pp_code_query(arena, &line_count);
    if (lines == NULL || begin(c, list, line_count, arena) != 0) {
        return false;
    }
    size_t objects = c->count;
    for (size_t i = 0; i < line_count; i++) {
        const pp_map_line *line = &lines[i];
        if (overlaps_any(c->all, objects, line->start, line->limit)) {
            continue;
        }
        if (*line->path == '/') {
            return false;
        }
        c->all[c->count++] = mapping_of(line);
    }
    return true;
}

/* -ENOMEM, or the error of reading the text: then without code that belongs to no object. */
static int collect_by_text(collection *c, const pp_seen *list, pp_arena *arena)
{
    char *text = NULL;
    size_t length = 0;
    int error = pp_maps_text(arena, &text, &length);
    if (error != 0) {
        return begin(c, list, 0, arena) == 0 ? error : -ENOMEM;
    }
    size_t lines = count_lines(text);
    if (begin(c, list, lines, arena) != 0) {
        return -ENOMEM;
    }
    pp_code_query_learn(text);
    add_unclaimed_code(c->all, &c->count, c->count + lines, text);
    return 0;
}

static const pp_seen *seen_objects(void)
{
    return __atomic_load_n(&pp_modules_seen, __ATOMIC_ACQUIRE);
}

/* 0 or -ENOMEM. */
static int finish(const collection *c, pp_arena *arena, pp_mapping **mappings, size_t *count)
{
    pp_mapping *ordered = c->all != NULL ? order(arena, c->all, c->count, c->main_count) : NULL;
    if (ordered == NULL) {
        return -ENOMEM;
    }
    *mappings = ordered;
    *count = c->count;
    return 0;
}

int pp_modules_mappings(pp_arena *arena, pp_mapping **mappings, size_t *count)
{
    const pp_seen *list = seen_objects();
    collection c;
    int error = collect_by_query(&c, list, arena) ? 0 : collect_by_text(&c, list, arena);
    return finish(&c, arena, mappings, count) == 0 ? error : -ENOMEM;
}

int pp_modules_objects(pp_arena *arena, pp_mapping **mappings, size_t *count)
{
    collection c;
    begin(&c, seen_objects(), 0, arena);
    return finish(&c, arena, mappings, count);
}
