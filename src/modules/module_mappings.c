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

#include "base/sort.h"
#include "modules/maps.h"
#include "modules/modules_seen.h"
#include "modules/unseen_object.h"

#include <errno.h>
#include <string.h>

pp_seen *pp_modules_seen;

static int compare_mappings(const void *a, const void *b, void *context)
{
    (void)context;
    const pp_mapping *x = *(const pp_mapping *const *)a;
    const pp_mapping *y = *(const pp_mapping *const *)b;
    return (x->start > y->start) - (x->start < y->start);
}

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

static void add_unclaimed_code(pp_mapping *all, size_t *count, size_t capacity, char *text)
{
    pp_map_line line;
    pp_map_line image = {.path = ""};
    size_t objects = *count;
    while (*count < capacity && pp_maps_next(&text, &line)) {
        image = line.offset == 0 ? line : image;
        if (line.executable && !overlaps_any(all, objects, line.start, line.limit)) {
            all[(*count)++] = (pp_mapping){.start = line.start,
                                           .limit = line.limit,
                                           .offset = line.offset,
                                           .bias = line.start - (uintptr_t)line.offset,
                                           .path = line.path};
            read_object(&image, &all[*count - 1]);
        }
    }
}

/* Sorts by address, but puts the main binary's first segment first. */
static pp_mapping *order(pp_arena *arena, pp_mapping *all, size_t count, size_t main_count)
{
    pp_mapping **by_start = pp_arena_array(arena, count + 1, sizeof(pp_mapping *));
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
            by_start[rest++] = &all[i];
        }
    }
    pp_sort(by_start, rest, sizeof(pp_mapping *), compare_mappings, NULL);
    size_t out = 0;
    if (first != NULL) {
        ordered[out++] = *first;
    }
    for (size_t i = 0; i < rest; i++) {
        ordered[out++] = *by_start[i];
    }
    return ordered;
}

int pp_modules_mappings(pp_arena *arena, pp_mapping **mappings, size_t *count)
{
    const pp_seen *list = __atomic_load_n(&pp_modules_seen, __ATOMIC_ACQUIRE);
    char *text = NULL;
    size_t length = 0;
    size_t capacity = 0;
    for (const pp_seen *s = list; s != NULL; s = s->next) {
        capacity++;
    }
    int error = pp_maps_text(arena, &text, &length);
    if (error == 0) {
        capacity += count_lines(text);
    }
    pp_mapping *all = pp_arena_array(arena, capacity + 1, sizeof *all);
    if (all == NULL) {
        return -ENOMEM;
    }
    size_t total = 0;
    add_seen(all, &total, list, true);
    size_t main_count = total;
    add_seen(all, &total, list, false);
    if (error == 0) {
        add_unclaimed_code(all, &total, capacity, text);
    }
    pp_mapping *ordered = order(arena, all, total, main_count);
    if (ordered == NULL) {
        return -ENOMEM;
    }
    *mappings = ordered;
    *count = total;
    return error;
}
