/* SPDX-License-Identifier: MIT
 *
 * split.c: see split.h.
 *
 *   samples:    [0 ............................. n)
 *   too large:  [0 ........ n/2) [n/2 .......... n)    and again, until each part fits
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/split.h"

#include "push/pprof.h"

#include <string.h>

enum { MICROSECOND = 1000, BYTES_OF_A_SAMPLE = 8 /* at least */ };

typedef struct cutter {
    push_memory memory; /* of one part */
    const push_entry *whole;
    const push_pprof *profile;
    const push_limits *limits;
    push_entry *first, *last; /* the parts */
    int64_t count;
    bool failed;
} cutter;

/* The new number of each old one that is used: 1, 2, ...; 0: it is not. Strings begin at 0. */
typedef struct numbers {
    uint64_t *locations, *functions, *mappings;
    int64_t *strings;
} numbers;

/* ---- one part ---- */

static int64_t text(cutter *c, numbers *n, push_pprof *part, int64_t old)
{
    if (old != 0 && n->strings[old] == 0) {
        n->strings[old] = (int64_t)part->n_string_table;
        part->string_table[part->n_string_table++] = c->profile->string_table[old];
    }
    return n->strings[old];
}

static Push__Pprof__ValueType *type(cutter *c, numbers *n, push_pprof *part,
                                    const Push__Pprof__ValueType *old)
{
    Push__Pprof__ValueType *copy =
        old != NULL ? push_memory_array(&c->memory, 1, sizeof *copy) : NULL;
    if (copy != NULL) {
        *copy = *old;
        copy->type = text(c, n, part, old->type);
        copy->unit = text(c, n, part, old->unit);
    }
    return copy;
}

static uint64_t mapping(cutter *c, numbers *n, push_pprof *part, uint64_t old)
{
    Push__Pprof__Mapping *copy = NULL;
    if (old != 0 && n->mappings[old] == 0 &&
        (copy = push_memory_array(&c->memory, 1, sizeof *copy)) != NULL) {
        *copy = *c->profile->mapping[old - 1];
        copy->filename = text(c, n, part, copy->filename);
        copy->build_id = text(c, n, part, copy->build_id);
        part->mapping[part->n_mapping++] = copy;
        copy->id = n->mappings[old] = part->n_mapping;
    }
    return n->mappings[old];
}

static uint64_t function(cutter *c, numbers *n, push_pprof *part, uint64_t old)
{
    Push__Pprof__Function *copy = NULL;
    if (old != 0 && n->functions[old] == 0 &&
        (copy = push_memory_array(&c->memory, 1, sizeof *copy)) != NULL) {
        *copy = *c->profile->function[old - 1];
        copy->name = text(c, n, part, copy->name);
        copy->system_name = text(c, n, part, copy->system_name);
        copy->filename = text(c, n, part, copy->filename);
        part->function[part->n_function++] = copy;
        copy->id = n->functions[old] = part->n_function;
    }
    return n->functions[old];
}

static void copy_lines(cutter *c, numbers *n, push_pprof *part, Push__Pprof__Location *copy)
{
    Push__Pprof__Line **old = copy->line;
    Push__Pprof__Line *lines = push_memory_array(&c->memory, copy->n_line, sizeof *lines);
    copy->line = push_memory_array(&c->memory, copy->n_line, sizeof(void *));
    for (size_t i = 0; lines != NULL && copy->line != NULL && i < copy->n_line; i++) {
        lines[i] = *old[i];
        lines[i].function_id = function(c, n, part, old[i]->function_id);
        copy->line[i] = &lines[i];
    }
}

static uint64_t location(cutter *c, numbers *n, push_pprof *part, uint64_t old)
{
    Push__Pprof__Location *copy = NULL;
    if (n->locations[old] == 0 && (copy = push_memory_array(&c->memory, 1, sizeof *copy)) != NULL) {
        *copy = *c->profile->location[old - 1];
        copy->mapping_id = mapping(c, n, part, copy->mapping_id);
        copy_lines(c, n, part, copy);
        part->location[part->n_location++] = copy;
        copy->id = n->locations[old] = part->n_location;
    }
    return n->locations[old];
}

static void copy_labels(cutter *c, numbers *n, push_pprof *part, Push__Pprof__Sample *copy)
{
    Push__Pprof__Label **old = copy->label;
    Push__Pprof__Label *labels = push_memory_array(&c->memory, copy->n_label, sizeof *labels);
    copy->label = push_memory_array(&c->memory, copy->n_label, sizeof(void *));
    for (size_t i = 0; labels != NULL && copy->label != NULL && i < copy->n_label; i++) {
        labels[i] = *old[i];
        labels[i].key = text(c, n, part, old[i]->key);
        labels[i].str = text(c, n, part, old[i]->str);
        labels[i].num_unit = text(c, n, part, old[i]->num_unit);
        copy->label[i] = &labels[i];
    }
}

static void copy_sample(cutter *c, numbers *n, push_pprof *part, const Push__Pprof__Sample *old)
{
    Push__Pprof__Sample *copy = push_memory_array(&c->memory, 1, sizeof *copy);
    uint64_t *ids = push_memory_array(&c->memory, old->n_location_id, sizeof *ids);
    if (copy == NULL || ids == NULL) {
        return;
    }
    *copy = *old;
    copy->location_id = ids;
    for (size_t i = 0; i < old->n_location_id; i++) {
        ids[i] = location(c, n, part, old->location_id[i]);
    }
    copy_labels(c, n, part, copy);
    part->sample[part->n_sample++] = copy;
}

/* The mapping of the program stays the first one. */
static void copy_rest(cutter *c, numbers *n, push_pprof *part)
{
    const push_pprof *p = c->profile;
    for (size_t i = 0; i < p->n_sample_type; i++) {
        part->sample_type[i] = type(c, n, part, p->sample_type[i]);
    }
    for (size_t i = 0; i < p->n_comment; i++) {
        part->comment[i] = text(c, n, part, p->comment[i]);
    }
    part->period_type = type(c, n, part, p->period_type);
    part->default_sample_type = text(c, n, part, p->default_sample_type);
    part->drop_frames = text(c, n, part, p->drop_frames);
    part->keep_frames = text(c, n, part, p->keep_frames);
    part->doc_url = text(c, n, part, p->doc_url);
    part->time_nanos += c->count * MICROSECOND;
    if (p->n_mapping > 0) {
        mapping(c, n, part, 1);
    }
}

/* The samples [begin, end) of the profile, and what they refer to; NULL: no memory. */
static push_pprof *make_part(cutter *c, size_t begin, size_t end)
{
    const push_pprof *p = c->profile;
    push_memory *m = &c->memory;
    push_pprof *part = push_memory_array(m, 1, sizeof *part);
    numbers n = {push_memory_array(m, p->n_location + 1, sizeof(uint64_t)),
                 push_memory_array(m, p->n_function + 1, sizeof(uint64_t)),
                 push_memory_array(m, p->n_mapping + 1, sizeof(uint64_t)),
                 push_memory_array(m, p->n_string_table, sizeof(int64_t))};
    if (part == NULL || m->failed) {
        return NULL;
    }
    *part = *p;
    part->n_sample = part->n_location = part->n_function = part->n_mapping = 0;
    part->n_string_table = 1; /* "" */
    part->sample_type = push_memory_array(m, p->n_sample_type, sizeof(void *));
    part->comment = push_memory_array(m, p->n_comment, sizeof(int64_t));
    part->sample = push_memory_array(m, end - begin, sizeof(void *));
    part->location = push_memory_array(m, p->n_location, sizeof(void *));
    part->function = push_memory_array(m, p->n_function, sizeof(void *));
    part->mapping = push_memory_array(m, p->n_mapping, sizeof(void *));
    part->string_table = push_memory_array(m, p->n_string_table, sizeof *part->string_table);
    if (m->failed) {
        return NULL;
    }
    copy_rest(c, &n, part);
    for (size_t i = begin; i < end && !m->failed; i++) {
        copy_sample(c, &n, part, p->sample[i]);
    }
    return m->failed ? NULL : part;
}

/* ---- all parts ---- */

static void add_part(cutter *c, const push_pprof *part)
{
    push_body packed = PUSH_BODY_INIT;
    push_profile profile = c->whole->profile;
    push_pprof_write(part, &packed);
    profile.data = packed.data;
    profile.size = packed.size;
    profile.begin_ns += c->count * MICROSECOND;
    push_entry *entry = packed.failed ? NULL : push_entry_new(&profile);
    push_body_release(&packed);
    if (entry == NULL) {
        c->failed = true;
        return;
    }
    if (c->last != NULL) {
        c->last->next = entry;
    } else {
        c->first = entry;
    }
    c->last = entry;
    c->count++;
}

/* Adds the part, unless it is too large: then true. Its tables are as large as the whole profile's. */
static bool add_if_small(cutter *c, size_t begin, size_t end)
{
    push_memory_init(&c->memory);
    const push_pprof *part = make_part(c, begin, end);
    bool is_large = part != NULL && c->limits->bytes != 0 && end - begin > 1 &&
                    push__pprof__profile__get_packed_size(part) > c->limits->bytes;
    if (part != NULL && !is_large) {
        add_part(c, part);
    }
    c->failed |= part == NULL;
    push_memory_release(&c->memory);
    return is_large;
}

/* Halves what is too large. */
static void cut(cutter *c, size_t begin, size_t end)
{
    bool has_many = c->limits->samples != 0 && end - begin > c->limits->samples;
    if (!c->failed && (has_many || add_if_small(c, begin, end))) {
        size_t middle = begin + (end - begin) / 2;
        cut(c, begin, middle);
        cut(c, middle, end);
    }
}

static bool may_be_too_large(const push_entry *entry, const push_limits *limits)
{
    uint64_t size = push_pprof_plain_size(entry->profile.data, entry->profile.size);
    return (limits->bytes != 0 && size > limits->bytes) ||
           (limits->samples != 0 && size / BYTES_OF_A_SAMPLE > limits->samples);
}

static bool is_too_large(const cutter *c)
{
    return (c->limits->samples != 0 && c->profile->n_sample > c->limits->samples) ||
           (c->limits->bytes != 0 &&
            push__pprof__profile__get_packed_size(c->profile) > c->limits->bytes);
}

static void free_all(push_entry *entry)
{
    while (entry != NULL) {
        push_entry *next = entry->next;
        push_entry_free(entry);
        entry = next;
    }
}

push_entry *push_split(push_entry *entry, const push_limits *limits)
{
    cutter c = {.whole = entry, .limits = limits};
    if (!may_be_too_large(entry, limits)) {
        return entry;
    }
    push_memory memory;
    push_memory_init(&memory);
    c.profile = push_pprof_read(entry->profile.data, entry->profile.size, &memory);
    bool is_whole = c.profile == NULL || !is_too_large(&c);
    if (!is_whole) {
        cut(&c, 0, c.profile->n_sample);
    }
    push_memory_release(&memory);
    if (is_whole) {
        return entry;
    }
    push_entry_free(entry);
    if (c.failed) {
        free_all(c.first);
        return NULL;
    }
    return c.first;
}
