/* SPDX-License-Identifier: MIT
 *
 * flame_colours.c: see flame_colours.h.
 *
 * Owns: the groups of the frames, while colours are chosen.
 * Tested by: e2e.cpprof_svg.
 */
#include "convert/flame_colours.h"

#include "base/base_name.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "src/base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_GROUP UINT32_MAX

typedef struct span {
    const char *text;
    size_t length;
} span;

/* ---- colours ---- */

/* A number from 0 to 1 that depends on the text: FNV-1a over its UTF-16, as in JavaScript. */
static double fraction(const char *text, size_t length)
{
    uint32_t hash = 0x811c9dc5;

    for (size_t at = 0; at < length;) {
        size_t bytes = pp_utf8_length(text + at, length - at);
        uint32_t code = bytes ? pp_utf8_character(text + at, bytes) : 0xfffd;
        if (code > 0xffff) {
            hash = (hash ^ (0xd7c0 + (code >> 10))) * 0x01000193;
            code = 0xdc00 | (code & 0x3ff);
        }
        hash = (hash ^ code) * 0x01000193;
        at += bytes ? bytes : 1;
    }
    return (double)(hash ^ (hash >> 13)) / 4294967296.0;
}

/* One channel of hsl(), as CSS defines it. */
static unsigned char channel(double offset, double hue, double saturation, double lightness)
{
    double k = fmod(offset + hue / 30, 12);
    double part = fmin(fmin(k - 3, 9 - k), 1);
    double value = lightness - saturation * fmin(lightness, 1 - lightness) * fmax(part, -1);

    return (unsigned char)lround(255 * value);
}

static cp_flame_colour hsl(double hue, double saturation, double lightness)
{
    return (cp_flame_colour){channel(0, hue, saturation, lightness),
                             channel(8, hue, saturation, lightness),
                             channel(4, hue, saturation, lightness)};
}

/* The fill of a group: `rank` is its place in their order, NO_GROUP for the rest. */
static cp_flame_colour fill(uint32_t rank, double shade, bool named)
{
    static const double hues[CP_FLAME_HUES] = {212, 28, 146, 272, 178, 334,
                                               50,  6,  238, 88,  196, 304};
    double lightness = (79 + (shade - 0.5) * 7) / 100;

    if (rank >= CP_FLAME_HUES) {
        return hsl(220, 0.06, lightness);
    }
    return hsl(hues[rank], named ? 0.72 : 0.72 * 0.45, lightness);
}

/* ---- groups ---- */

/* The object files of the frames; a frame in several has the first. */
static void find_modules(const cp_report *report, span *groups)
{
    const cp_profile *profile = report->profile;

    for (uint32_t i = 0; i < profile->location_count; i++) {
        const cp_location *location = &profile->locations[i];
        if (location->mapping == CP_NO_MAPPING) {
            continue;
        }
        const char *file = cp_profile_text(profile, profile->mappings[location->mapping].file);
        span module;
        module.text = cp_base_name(file, &module.length);
        for (uint32_t at = report->frames.first_of[i]; at < report->frames.first_of[i + 1]; at++) {
            span *group = &groups[report->frames.of_line[at]];
            *group = group->length ? *group : module;
        }
    }
}

static bool several_modules(const span *groups, uint32_t count)
{
    const span *first = NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (!groups[i].length || groups[i].text[0] == '[') {
            continue;
        }
        if (first && (first->length != groups[i].length ||
                      memcmp(first->text, groups[i].text, first->length) != 0)) {
            return true;
        }
        first = &groups[i];
    }
    return false;
}

/* What Go, C++, Rust and Java put before the last part of a name. */
static span package_of(const cp_frame *frame)
{
    size_t length = strcspn(frame->label, "<(");
    const char *slash = memrchr(frame->label, '/', length);
    const char *rest = slash ? slash + 1 : frame->label;
    size_t rest_length = length - (size_t)(rest - frame->label);
    const char *cut = memmem(rest, rest_length, "::", 2);

    cut = cut ? cut : memchr(rest, '.', rest_length);
    return (span){frame->label, cut && cut > rest ? (size_t)(cut - frame->label) : 0};
}

static void find_groups(const cp_report *report, span *groups)
{
    const cp_frames *frames = &report->frames;

    find_modules(report, groups);
    if (several_modules(groups, frames->count)) {
        return;
    }
    for (uint32_t i = 0; i < frames->count; i++) {
        groups[i] = package_of(&frames->frames[i]);
    }
}

/* ---- ranks ---- */

static int compare_spans(const span *a, const span *b)
{
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = shorter ? memcmp(a->text, b->text, shorter) : 0;

    return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

static int compare_names(const void *left, const void *right, void *context)
{
    const span *groups = context;

    return compare_spans(&groups[*(const uint32_t *)left], &groups[*(const uint32_t *)right]);
}

static int compare_areas(const void *left, const void *right)
{
    const cp_flame_group *a = left, *b = right;

    if (a->area != b->area) {
        return a->area > b->area ? -1 : 1;
    }
    return compare_spans(&(span){a->name, a->length}, &(span){b->name, b->length});
}

/* Adds up the areas of the frames of each group, and sorts the groups. */
static void add_groups(cp_flame_colours *colours, span *groups, const double *areas, uint32_t count)
{
    uint32_t *order = cp_heap_alloc(count, sizeof *order);

    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    qsort_r(order, count, sizeof *order, compare_names, groups);
    colours->groups = cp_heap_alloc(count, sizeof *colours->groups);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || compare_names(&order[i - 1], &order[i], groups) != 0) {
            const span *name = &groups[order[i]];
            colours->groups[colours->group_count++] = (cp_flame_group){name->text, name->length, 0};
        }
        colours->groups[colours->group_count - 1].area += areas[order[i]];
    }
    free(order);
    qsort(colours->groups, colours->group_count, sizeof *colours->groups, compare_areas);
}

/* The place of a group among those with hues. What is in no group is grey. */
static uint32_t rank_of(const cp_flame_colours *colours, const span *group)
{
    for (uint32_t i = 0; i < colours->group_count && i < CP_FLAME_HUES && group->length; i++) {
        if (colours->groups[i].length == group->length &&
            memcmp(colours->groups[i].name, group->text, group->length) == 0) {
            return i;
        }
    }
    return NO_GROUP;
}

static void put_fills(cp_flame_colours *colours, const cp_frames *frames, const span *groups)
{
    for (uint32_t i = 0; i < frames->count; i++) {
        const cp_frame *frame = &frames->frames[i];
        bool named = frame->label[0] != '[' && strcmp(frame->label, "<unknown>") != 0;

        colours->fills[i] =
            fill(rank_of(colours, &groups[i]), fraction(frame->label, frame->label_length), named);
    }
    colours->fills[frames->count] = fill(NO_GROUP, 0.5, true);
}

void cp_flame_colours_init(cp_flame_colours *colours, const cp_report *report,
                           const cp_flame_tree *tree)
{
    uint32_t count = report->frames.count;
    span *groups = cp_heap_alloc(count, sizeof *groups);
    double *areas = cp_heap_alloc((size_t)count + 1, sizeof *areas);

    *colours = (cp_flame_colours){0};
    colours->fills = cp_heap_alloc((size_t)count + 1, sizeof *colours->fills);
    find_groups(report, groups);
    for (uint32_t i = 1; i < tree->count; i++) {
        areas[tree->nodes[i].frame] += (double)tree->nodes[i].width;
    }
    add_groups(colours, groups, areas, count);
    put_fills(colours, &report->frames, groups);
    free(areas);
    free(groups);
}

void cp_flame_colours_release(cp_flame_colours *colours)
{
    free(colours->fills);
    free(colours->groups);
}

cp_flame_colour cp_flame_group_colour(const cp_flame_colours *colours, uint32_t group)
{
    return fill(colours->groups[group].length ? group : NO_GROUP, 0.5, true);
}
