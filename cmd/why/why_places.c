/* SPDX-License-Identifier: MIT
 *
 * why_places.c: see why_places.h.
 *
 * Tested by: e2e.cpprof_why
 */
#include "why/why_places.h"

#include "base/pool.h"
#include "profile/profile_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_NAMES = 4, TEXT_BYTES = 512 };

/* ---- names ---- */

/* What is around a thread's own functions, and around main; the roots of a profile of memory. */
static bool is_beginning(const char *name)
{
    static const char root_of_memory[] = "pprof_memory_";
    static const char *const names[] = {"start_thread",
                                        "clone",
                                        "clone3",
                                        "__clone3",
                                        "__clone",
                                        "_start",
                                        "__libc_start_main",
                                        "__libc_start_call_main",
                                        "pprof_file_mapping",
                                        NULL};

    for (size_t i = 0; names[i]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return strncmp(name, root_of_memory, sizeof root_of_memory - 1) == 0;
}

/* Where there is no debug file most parts of libc have no name, start_thread among them. */
static bool is_nameless_in_libc(const char *name)
{
    return strncmp(name, "[libc.so", strlen("[libc.so")) == 0 ||
           strncmp(name, "[libc-", strlen("[libc-")) == 0;
}

/* Parts of libc begin with an underscore. */
static bool is_inner(const char *name)
{
    return (name[0] == '_' && name[1] != 'Z') || is_nameless_in_libc(name);
}

/* "[perl]+0x1964a0" without the address. */
static size_t length_of(const char *name)
{
    const char *plus = name[0] == '[' ? strstr(name, "]+0x") : NULL;

    return plus ? (size_t)(plus + 1 - name) : strlen(name);
}

/* ---- a stack ---- */

typedef struct chain {
    char bytes[TEXT_BYTES];
    size_t length;
    int names;
    char last[128];
} chain;

static void add_name(chain *t, const char *name)
{
    size_t length = length_of(name);
    char cut[sizeof t->last];

    length = length < sizeof cut - 1 ? length : sizeof cut - 1;
    memcpy(cut, name, length);
    cut[length] = '\0';
    if (t->names >= SHOWN_NAMES || strcmp(cut, t->last) == 0) {
        return;
    }
    size_t room = sizeof t->bytes - t->length;
    if (length + 4 < room) {
        t->length +=
            (size_t)snprintf(t->bytes + t->length, room, "%s%s", t->names ? " < " : "", cut);
        t->names++;
        memcpy(t->last, cut, sizeof cut);
    }
}

/* Adds the names, the leaf first. */
static void add_names(const cp_profile *profile, const cp_sample *sample, bool with_inner, chain *t)
{
    bool is_below = !with_inner; /* the parts of libc at the leaf are left out */

    for (uint32_t i = 0; i < sample->location_count; i++) {
        const cp_location *location = &profile->locations[sample->locations[i]];
        for (uint32_t k = 0; k < location->line_count; k++) {
            const char *name =
                cp_profile_text(profile, profile->functions[location->lines[k].function].name);
            is_below = is_below && is_inner(name);
            bool is_wrapper =
                t->names > 0 && (strncmp(name, "__", 2) == 0 || is_nameless_in_libc(name));
            if (*name && !is_below && !is_wrapper && !is_beginning(name)) {
                add_name(t, name);
            }
        }
    }
}

static chain chain_of(const cp_profile *profile, const cp_sample *sample, bool with_inner)
{
    chain t = {.length = 0};

    add_names(profile, sample, with_inner, &t);
    if (t.names == 0 && !with_inner) {
        add_names(profile, sample, true, &t);
    }
    if (t.names == 0) {
        add_name(&t, "(no name)");
    }
    return t;
}

/* ---- rows ---- */

static const char *state_of(const cp_profile *profile, const cp_sample *sample)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        const cp_label *label = &sample->labels[i];
        if (!label->numeric && strcmp(cp_profile_text(profile, label->key), "state") == 0) {
            return cp_profile_text(profile, label->text);
        }
    }
    return "";
}

static char *copy(const char *text)
{
    return cp_heap_copy(text, strlen(text));
}

static cp_place place_of(const cp_profile *profile, const cp_sample *sample, int64_t value,
                         bool by_leaf)
{
    chain t = chain_of(profile, sample, by_leaf);
    size_t leaf = by_leaf ? strcspn(t.bytes, "<") : t.length;

    return (cp_place){.state = copy(state_of(profile, sample)),
                      .leaf = cp_heap_copy(t.bytes, leaf),
                      .text = copy(t.bytes),
                      .value = value,
                      .largest = value};
}

static void release_place(cp_place *place)
{
    free(place->state);
    free(place->leaf);
    free(place->text);
}

static int by_place(const void *left, const void *right)
{
    const cp_place *a = left, *b = right;
    int order = strcmp(a->state, b->state);

    return order ? order : strcmp(a->leaf, b->leaf);
}

static int by_value(const void *left, const void *right)
{
    const cp_place *a = left, *b = right;

    return a->value != b->value ? (a->value < b->value ? 1 : -1) : by_place(left, right);
}

/* Adds up rows of one place that follow each other. */
static void join(cp_places *places)
{
    size_t kept = 0;

    for (size_t i = 0; i < places->count; i++) {
        cp_place *row = &places->rows[i], *last = kept ? &places->rows[kept - 1] : NULL;

        if (!last || by_place(last, row) != 0) {
            places->rows[kept++] = *row;
            continue;
        }
        last->value += row->value;
        if (row->largest > last->largest) {
            char *text = last->text;
            last->text = row->text;
            last->largest = row->largest;
            row->text = text;
        }
        release_place(row);
    }
    places->count = kept;
}

static void sort(cp_places *places, int (*compare)(const void *, const void *))
{
    if (places->count) {
        qsort(places->rows, places->count, sizeof *places->rows, compare);
    }
}

cp_places cp_places_of(const cp_profile *profile, uint32_t value_index, bool by_leaf)
{
    cp_places places = {cp_heap_alloc(profile->sample_count, sizeof(cp_place)), 0};

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        if (sample->values[value_index] > 0) {
            places.rows[places.count++] =
                place_of(profile, sample, sample->values[value_index], by_leaf);
        }
    }
    sort(&places, by_place);
    join(&places);
    sort(&places, by_value);
    return places;
}

void cp_places_release(cp_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        release_place(&places->rows[i]);
    }
    free(places->rows);
    *places = (cp_places){NULL, 0};
}

int64_t cp_places_sum(const cp_places *places, const char *state)
{
    int64_t sum = 0;

    for (size_t i = 0; i < places->count; i++) {
        if (!state || strcmp(places->rows[i].state, state) == 0) {
            sum += places->rows[i].value;
        }
    }
    return sum;
}
