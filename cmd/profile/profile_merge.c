/* SPDX-License-Identifier: MIT
 *
 * profile_merge.c: see profile_merge.h.
 *
 * Each kind of part has a table from its content to its index in the result. A second table leads
 * from the index in the current source to the index in the result. A part is copied when a sample
 * first needs it, so the result is in the order of first use.
 *
 *   sample --locations--> location --mapping, functions--> ...
 *     each: seen in this source? -> its index; equal content known? -> that index; else append
 *
 * Owns: nothing after a call.
 * Tested by: unit.cmd_merge, fuzz.profile.
 */
#include "profile/profile_merge.h"

#include "base/index_table.h"
#include "base/message.h"
#include "profile/profile_model.h"
#include "profile/profile_units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_YET UINT32_MAX

/* How many parts of each kind there is room for in the result. */
typedef struct room {
    size_t samples, locations, functions, mappings, comments;
} room;

typedef struct cp_merger {
    cp_profile *result;
    room room;
    size_t source_count;
    size_t *comment_times; /* per comment of the result: how many sources have it, */
    size_t *comment_last;  /* and the last of these, from 1 */
    cp_index_table samples, locations, functions, mappings;

    const cp_profile *source; /* the current one */
    /* Per part of the source: the part in the result, or NOT_YET. */
    cp_string *string_of;
    uint32_t *location_of, *function_of, *mapping_of;

    uint32_t *stack; /* room for the deepest stack, and for the most labels */
    cp_label *labels;
    cp_line *lines;
} cp_merger;

/* ---- parts ---- */

static cp_string move_string(cp_merger *m, cp_string string)
{
    cp_string *moved = &m->string_of[string];

    if (*moved == NOT_YET) {
        *moved = cp_strings_copy(&m->result->strings, &m->source->strings, string);
    }
    return *moved;
}

/* The length in whole pages: the end of a mapping is not exact. */
static uint64_t mapping_pages(const cp_mapping *mapping)
{
    return (mapping->limit - mapping->start + 0xfff) / 0x1000;
}

static cp_string mapping_identity(const cp_mapping *mapping)
{
    return mapping->build_id ? mapping->build_id : mapping->file;
}

static uint32_t find_or_add_mapping(cp_merger *m, const cp_mapping *mapping)
{
    cp_profile *result = m->result;
    const uint64_t key[] = {mapping_pages(mapping), mapping->offset, mapping_identity(mapping)};
    uint64_t hash = cp_hash_bytes(key, sizeof key, 0);
    uint64_t at = hash;
    uint32_t index;

    while (cp_index_next(&m->mappings, hash, &at, &index)) {
        const cp_mapping *known = &result->mappings[index];
        if (mapping_pages(known) == key[0] && known->offset == key[1] &&
            mapping_identity(known) == key[2]) {
            return index;
        }
    }
    index = result->mapping_count++;
    result->mappings[index] = *mapping;
    result->mappings[index].id = index + 1;
    cp_index_add(&m->mappings, hash, index);
    return index;
}

static uint32_t move_mapping(cp_merger *m, uint32_t from)
{
    if (from == CP_NO_MAPPING) {
        return CP_NO_MAPPING;
    }
    cp_mapping mapping;
    if (m->mapping_of[from] == NOT_YET) {
        mapping = m->source->mappings[from];
        mapping.file = move_string(m, mapping.file);
        mapping.build_id = move_string(m, mapping.build_id);
        m->mapping_of[from] = find_or_add_mapping(m, &mapping);
    }
    return m->mapping_of[from];
}

static uint32_t find_or_add_function(cp_merger *m, const cp_function *function)
{
    cp_profile *result = m->result;
    uint64_t hash = cp_function_hash(function), at = hash;
    uint32_t index;

    while (cp_index_next(&m->functions, hash, &at, &index)) {
        if (cp_function_equal(&result->functions[index], function)) {
            return index;
        }
    }
    index = result->function_count++;
    result->functions[index] = *function;
    cp_index_add(&m->functions, hash, index);
    return index;
}

static uint32_t move_function(cp_merger *m, uint32_t from)
{
    cp_function function;

    if (m->function_of[from] == NOT_YET) {
        function = m->source->functions[from];
        function.name = move_string(m, function.name);
        function.system_name = move_string(m, function.system_name);
        function.filename = move_string(m, function.filename);
        m->function_of[from] = find_or_add_function(m, &function);
    }
    return m->function_of[from];
}

static uint32_t find_or_add_location(cp_merger *m, const cp_location *location)
{
    cp_profile *result = m->result;
    uint64_t hash = cp_location_hash(location), at = hash;
    uint32_t index;

    while (cp_index_next(&m->locations, hash, &at, &index)) {
        if (cp_location_equal(&result->locations[index], location)) {
            return index;
        }
    }
    index = result->location_count++;
    cp_location *added = &result->locations[index];
    *added = *location;
    added->id = index + 1;
    added->lines = CP_POOL_ARRAY(&result->pool, cp_line, location->line_count);
    memcpy(added->lines, location->lines, location->line_count * sizeof *added->lines);
    cp_index_add(&m->locations, hash, index);
    return index;
}

static uint32_t move_location(cp_merger *m, uint32_t from)
{
    if (m->location_of[from] != NOT_YET) {
        return m->location_of[from];
    }
    cp_location location = m->source->locations[from];
    if (location.mapping != CP_NO_MAPPING) {
        uint32_t mapping = move_mapping(m, location.mapping);
        location.address +=
            m->result->mappings[mapping].start - m->source->mappings[location.mapping].start;
        location.mapping = mapping;
    }
    for (uint32_t i = 0; i < location.line_count; i++) {
        m->lines[i].function = move_function(m, location.lines[i].function);
        m->lines[i].line = location.lines[i].line;
        m->lines[i].column = location.lines[i].column;
    }
    location.lines = m->lines;
    m->location_of[from] = find_or_add_location(m, &location);
    return m->location_of[from];
}

/* ---- samples ---- */

static bool labels_equal(const cp_sample *left, const cp_sample *right)
{
    for (uint32_t i = 0; i < left->label_count; i++) {
        const cp_label *a = &left->labels[i], *b = &right->labels[i];
        if (a->key != b->key || a->numeric != b->numeric || a->text != b->text ||
            a->number != b->number) {
            return false;
        }
    }
    return true;
}

static bool samples_equal(const cp_sample *left, const cp_sample *right)
{
    return left->location_count == right->location_count &&
           left->label_count == right->label_count &&
           memcmp(left->locations, right->locations,
                  left->location_count * sizeof *left->locations) == 0 &&
           labels_equal(left, right);
}

static uint64_t hash_sample(const cp_sample *sample)
{
    uint64_t hash =
        cp_hash_bytes(sample->locations, sample->location_count * sizeof *sample->locations, 0);

    for (uint32_t i = 0; i < sample->label_count; i++) {
        const cp_label *label = &sample->labels[i];
        const uint64_t key[] = {label->key, label->text, (uint64_t)label->number, label->numeric};
        hash = cp_hash_bytes(key, sizeof key, hash);
    }
    return hash;
}

static void append_sample(cp_merger *m, const cp_sample *sample, uint64_t hash)
{
    cp_profile *result = m->result;
    uint32_t index = result->sample_count++;
    cp_sample *added = &result->samples[index];

    *added = *sample;
    added->locations =
        cp_pool_words(&result->pool, sample->location_count, sizeof *added->locations);
    memcpy(added->locations, sample->locations, sample->location_count * sizeof *added->locations);
    added->values = cp_pool_words(&result->pool, result->sample_type_count, sizeof *added->values);
    memcpy(added->values, sample->values, result->sample_type_count * sizeof *added->values);
    added->labels = NULL;
    if (sample->label_count) {
        added->labels = CP_POOL_ARRAY(&result->pool, cp_label, sample->label_count);
        memcpy(added->labels, sample->labels, sample->label_count * sizeof *added->labels);
    }
    cp_index_add(&m->samples, hash, index);
}

static void add_values(int64_t *to, const int64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = (int64_t)((uint64_t)to[i] + (uint64_t)from[i]);
    }
}

static void move_sample(cp_merger *m, const cp_sample *from)
{
    cp_profile *result = m->result;
    cp_sample sample = *from;

    sample.locations = m->stack;
    sample.labels = m->labels;
    for (uint32_t i = 0; i < from->location_count; i++) {
        sample.locations[i] = move_location(m, from->locations[i]);
    }
    for (uint32_t i = 0; i < from->label_count; i++) {
        sample.labels[i] = from->labels[i];
        sample.labels[i].key = move_string(m, from->labels[i].key);
        sample.labels[i].text = move_string(m, from->labels[i].text);
    }
    uint64_t hash = hash_sample(&sample);
    uint64_t at = hash;
    uint32_t index;
    while (cp_index_next(&m->samples, hash, &at, &index)) {
        if (samples_equal(&result->samples[index], &sample)) {
            add_values(result->samples[index].values, from->values, result->sample_type_count);
            return;
        }
    }
    append_sample(m, &sample, hash);
}

static bool is_zero(const cp_profile *profile, const cp_sample *sample)
{
    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        if (sample->values[i]) {
            return false;
        }
    }
    return true;
}

/* ---- sources ---- */

static uint32_t *new_index_map(uint32_t count)
{
    uint32_t *map = cp_heap_alloc(count, sizeof *map);

    memset(map, 0xff, count * sizeof *map); /* NOT_YET */
    return map;
}

static void open_source(cp_merger *m, const cp_profile *source)
{
    uint32_t deepest = 0, most_labels = 0, most_lines = 0;

    m->source = source;
    m->string_of = new_index_map(source->strings.count);
    m->location_of = new_index_map(source->location_count);
    m->function_of = new_index_map(source->function_count);
    m->mapping_of = new_index_map(source->mapping_count);
    for (uint32_t i = 0; i < source->sample_count; i++) {
        if (source->samples[i].location_count > deepest) {
            deepest = source->samples[i].location_count;
        }
        if (source->samples[i].label_count > most_labels) {
            most_labels = source->samples[i].label_count;
        }
    }
    for (uint32_t i = 0; i < source->location_count; i++) {
        if (source->locations[i].line_count > most_lines) {
            most_lines = source->locations[i].line_count;
        }
    }
    m->stack = cp_heap_alloc(deepest, sizeof *m->stack);
    m->labels = cp_heap_alloc(most_labels, sizeof *m->labels);
    m->lines = cp_heap_alloc(most_lines, sizeof *m->lines);
}

static void close_source(cp_merger *m)
{
    free(m->string_of);
    free(m->location_of);
    free(m->function_of);
    free(m->mapping_of);
    free(m->stack);
    free(m->labels);
    free(m->lines);
}

/* ---- header ---- */

static bool same_text(const cp_profile *left, cp_string a, const cp_profile *right, cp_string b)
{
    return strcmp(cp_profile_text(left, a), cp_profile_text(right, b)) == 0;
}

static int check_types(const cp_profile *first, const cp_profile *other, cp_error *error)
{
    if (first->sample_type_count != other->sample_type_count) {
        return cp_profile_refuse_types(first, other, error);
    }
    for (uint32_t i = 0; i < first->sample_type_count; i++) {
        const cp_value_type *a = &first->sample_types[i], *b = &other->sample_types[i];
        if (!same_text(first, a->type, other, b->type) ||
            !same_text(first, a->unit, other, b->unit)) {
            return cp_profile_refuse_types(first, other, error);
        }
    }
    if (!same_text(first, first->period_type.type, other, other->period_type.type) ||
        !same_text(first, first->period_type.unit, other, other->period_type.unit)) {
        return cp_fail(error, "expected profiles of one kind, found period types %.100s and %.100s",
                       cp_profile_text(first, first->period_type.type),
                       cp_profile_text(other, other->period_type.type));
    }
    return 0;
}

static cp_string copy_string(cp_profile *to, const cp_profile *from, cp_string string)
{
    return cp_strings_copy(&to->strings, &from->strings, string);
}

static cp_value_type copy_type(cp_profile *to, const cp_profile *from, cp_value_type type)
{
    return (cp_value_type){copy_string(to, from, type.type), copy_string(to, from, type.unit)};
}

static uint32_t find_or_add_comment(cp_profile *result, cp_string comment)
{
    uint32_t index = 0;

    while (index < result->comment_count && result->comments[index] != comment) {
        index++;
    }
    if (index == result->comment_count) {
        result->comments[result->comment_count++] = comment;
    }
    return index;
}

static void add_comments(cp_merger *m, const cp_profile *source)
{
    for (uint32_t i = 0; i < source->comment_count; i++) {
        cp_string comment = copy_string(m->result, source, source->comments[i]);
        uint32_t index = find_or_add_comment(m->result, comment);

        m->comment_times[index] += m->comment_last[index] != m->source_count;
        m->comment_last[index] = m->source_count;
    }
}

static void merge_header(cp_merger *m, const cp_profile *source)
{
    cp_profile *result = m->result;

    if (result->time_nanos == 0 || source->time_nanos < result->time_nanos) {
        result->time_nanos = source->time_nanos;
    }
    add_values(&result->duration_nanos, &source->duration_nanos, 1);
    if (result->period == 0 || result->period < source->period) {
        result->period = source->period;
    }
    add_comments(m, source);
    if (result->default_sample_type == 0) {
        result->default_sample_type = copy_string(result, source, source->default_sample_type);
    }
    if (result->doc_url == 0) {
        result->doc_url = copy_string(result, source, source->doc_url);
    }
}

static void first_header(cp_profile *result, const cp_profile *first)
{
    result->sample_types = CP_POOL_ARRAY(&result->pool, cp_value_type, first->sample_type_count);
    result->sample_type_count = first->sample_type_count;
    for (uint32_t i = 0; i < first->sample_type_count; i++) {
        result->sample_types[i] = copy_type(result, first, first->sample_types[i]);
    }
    result->period_type = copy_type(result, first, first->period_type);
    result->drop_frames = copy_string(result, first, first->drop_frames);
    result->keep_frames = copy_string(result, first, first->keep_frames);
}

/* ---- comments ---- */

#define OWN_COMMENT "libpprof: "

/*
 * A comment of the library counts what is in one profile ("of 6351 samples ..."). In a sum, the
 * comment is preceded by the number of profiles that have it. Other comments are kept, each once.
 */
static void label_comments(const cp_merger *m)
{
    cp_profile *result = m->result;

    for (uint32_t i = 0; i < result->comment_count; i++) {
        const char *text = cp_profile_text(result, result->comments[i]);

        if (strncmp(text, OWN_COMMENT, sizeof OWN_COMMENT - 1) != 0) {
            continue;
        }
        char *labelled =
            cp_heap_printf(OWN_COMMENT "in %zu of %zu profiles: %s", m->comment_times[i],
                           m->source_count, text + sizeof OWN_COMMENT - 1);
        result->comments[i] = cp_strings_add(&result->strings, labelled, strlen(labelled));
        free(labelled);
    }
}

/* ---- merge ---- */

/* Returns the array of the result with room for `needed` parts; its first `used` are kept. */
static void *widen(cp_pool *pool, void *array, size_t used, size_t *capacity, size_t needed,
                   size_t size)
{
    if (array && needed <= *capacity) {
        return array;
    }
    *capacity = needed > 2 * *capacity ? needed : 2 * *capacity;
    void *wider = cp_pool_alloc(pool, *capacity, size);
    if (array && used) {
        memcpy(wider, array, used * size);
    }
    return wider;
}

static void widen_comments(cp_merger *m, size_t needed)
{
    cp_profile *result = m->result;
    size_t before = m->room.comments;

    result->comments = widen(&result->pool, result->comments, result->comment_count,
                             &m->room.comments, needed, sizeof *result->comments);
    if (m->room.comments > before || !m->comment_times) {
        m->comment_times =
            cp_heap_resize(m->comment_times, m->room.comments, sizeof *m->comment_times);
        m->comment_last =
            cp_heap_resize(m->comment_last, m->room.comments, sizeof *m->comment_last);
        memset(m->comment_times + before, 0, (m->room.comments - before) * sizeof(size_t));
        memset(m->comment_last + before, 0, (m->room.comments - before) * sizeof(size_t));
    }
}

/* Makes room for so many more parts, as if they had nothing in common with the result. */
static void make_room(cp_merger *m, const room *more)
{
    cp_profile *r = m->result;
    cp_pool *pool = &r->pool;

    r->samples = widen(pool, r->samples, r->sample_count, &m->room.samples,
                       r->sample_count + more->samples, sizeof *r->samples);
    r->mappings = widen(pool, r->mappings, r->mapping_count, &m->room.mappings,
                        r->mapping_count + more->mappings, sizeof *r->mappings);
    r->locations = widen(pool, r->locations, r->location_count, &m->room.locations,
                         r->location_count + more->locations, sizeof *r->locations);
    r->functions = widen(pool, r->functions, r->function_count, &m->room.functions,
                         r->function_count + more->functions, sizeof *r->functions);
    widen_comments(m, r->comment_count + more->comments);
}

static void add_parts(room *sum, const cp_profile *source)
{
    sum->samples += source->sample_count;
    sum->mappings += source->mapping_count;
    sum->locations += source->location_count;
    sum->functions += source->function_count;
    sum->comments += source->comment_count;
}

static void merge_parts(cp_merger *m, const cp_profile *source)
{
    open_source(m, source);
    /* The first mapping is the program, whatever mapping the first sample is in. */
    if (m->result->mapping_count == 0 && source->mapping_count > 0) {
        move_mapping(m, 0);
    }
    for (uint32_t i = 0; i < source->sample_count; i++) {
        if (!is_zero(source, &source->samples[i])) {
            move_sample(m, &source->samples[i]);
        }
    }
    close_source(m);
}

cp_merger *cp_merger_new(void)
{
    cp_merger *m = cp_heap_alloc(1, sizeof *m);

    m->result = cp_profile_new();
    cp_index_init(&m->samples, 1024);
    cp_index_init(&m->locations, 1024);
    cp_index_init(&m->functions, 1024);
    cp_index_init(&m->mappings, 64);
    return m;
}

static void free_merger(cp_merger *m)
{
    cp_index_release(&m->samples);
    cp_index_release(&m->locations);
    cp_index_release(&m->functions);
    cp_index_release(&m->mappings);
    free(m->comment_times);
    free(m->comment_last);
    free(m);
}

void cp_merger_free(cp_merger *m)
{
    cp_profile_free(m->result);
    free_merger(m);
}

static void merge_source(cp_merger *m, const cp_profile *source)
{
    room more = {0};

    add_parts(&more, source);
    make_room(m, &more);
    if (m->source_count++ == 0) {
        first_header(m->result, source);
    }
    merge_header(m, source);
    merge_parts(m, source);
}

int cp_merger_add(cp_merger *m, const cp_profile *source, cp_error *error)
{
    if (m->source_count && check_types(m->result, source, error) < 0) {
        return -1;
    }
    merge_source(m, source);
    return 0;
}

static bool has_zero_sample(const cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (is_zero(profile, &profile->samples[i])) {
            return true;
        }
    }
    return false;
}

/* A second merge leaves out samples whose sums are zero, and the parts that only these used. */
static void drop_zeros(cp_merger *m)
{
    cp_merger *once_more = cp_merger_new();

    merge_source(once_more, m->result);
    cp_profile_free(m->result);
    m->result = once_more->result;
    free_merger(once_more);
}

cp_profile *cp_merger_finish(cp_merger *m)
{
    cp_profile *result;

    if (has_zero_sample(m->result)) {
        drop_zeros(m);
    }
    if (m->source_count > 1) {
        label_comments(m);
    }
    result = m->result;
    free_merger(m);
    return result;
}

int cp_profile_merge(cp_profile *const *sources, size_t count, cp_profile **out, cp_error *error)
{
    room all = {0};

    for (size_t i = 1; i < count; i++) {
        if (check_types(sources[0], sources[i], error) < 0) {
            return -1;
        }
    }
    cp_merger *m = cp_merger_new();
    for (size_t i = 0; i < count; i++) {
        add_parts(&all, sources[i]);
    }
    make_room(m, &all);
    for (size_t i = 0; i < count; i++) {
        merge_source(m, sources[i]);
    }
    *out = cp_merger_finish(m);
    return 0;
}

int cp_profile_add(cp_profile *const *sources, size_t count, cp_profile **out, cp_error *error)
{
    if (cp_profile_align_units(sources, count, error) < 0) {
        return -1;
    }
    return cp_profile_merge(sources, count, out, error);
}

/* ---- difference ---- */

int cp_profile_subtract(cp_profile *source, cp_profile *base, cp_profile **out, cp_error *error)
{
    cp_profile *both[2] = {source, base};
    double *ratios = cp_heap_alloc(both[1]->sample_type_count, sizeof *ratios);

    for (uint32_t i = 0; i < both[1]->sample_type_count; i++) {
        ratios[i] = -1;
    }
    cp_profile_scale(both[1], ratios);
    free(ratios);
    int status = cp_profile_add(both, 2, out, error);
    cp_profile_free(both[0]);
    cp_profile_free(both[1]);
    return status;
}

static double total_of(const cp_profile *profile, uint32_t type)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        total += (uint64_t)profile->samples[i].values[type];
    }
    return (double)(int64_t)total;
}

int cp_profile_normalize(cp_profile *source, const cp_profile *base, cp_error *error)
{
    if (check_types(source, base, error) < 0) {
        return -1;
    }
    double *ratios = cp_heap_alloc(source->sample_type_count, sizeof *ratios);
    for (uint32_t i = 0; i < source->sample_type_count; i++) {
        double total = total_of(source, i);
        ratios[i] = total != 0 ? total_of(base, i) / total : 0;
    }
    cp_profile_scale(source, ratios);
    free(ratios);
    return 0;
}

static bool sum_is_simple(const cp_profile *profile, uint32_t type)
{
    int64_t total = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        int64_t value = profile->samples[i].values[type];
        if (value < 0 || __builtin_add_overflow(total, value, &total)) {
            return false;
        }
    }
    return true;
}

static bool has_equal_mappings(const cp_profile *profile)
{
    cp_merger m = {.result = cp_profile_new()};

    cp_index_init(&m.mappings, 64);
    m.result->mappings = CP_POOL_ARRAY(&m.result->pool, cp_mapping, (size_t)profile->mapping_count);
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        find_or_add_mapping(&m, &profile->mappings[i]);
    }
    bool found = m.result->mapping_count < profile->mapping_count;
    cp_index_release(&m.mappings);
    cp_profile_free(m.result);
    return found;
}

bool cp_profile_needs_merge(const cp_profile *profile)
{
    for (uint32_t type = 0; type < profile->sample_type_count; type++) {
        if (!sum_is_simple(profile, type)) {
            return true;
        }
    }
    return has_equal_mappings(profile);
}
