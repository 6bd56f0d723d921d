/* SPDX-License-Identifier: MIT
 *
 * dot_tags.c: see dot_tags.h.
 *
 * Owns: indices, while tags are counted.
 * Tested by: e2e.cpprof_dot.
 */
#include "convert/dot_tags.h"

#include "base/measurement.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/report_load.h"

#include <stdlib.h>
#include <string.h>

/* ---- kinds ---- */

static uint32_t find_kind(cp_dot_tags *tags, cp_index_table *index, cp_dot_kind wanted)
{
    const uint32_t words[] = {wanted.labels, wanted.name, wanted.numeric};
    uint64_t hash = cp_hash_bytes(words, sizeof words, 0), at = hash;
    uint32_t found;

    while (cp_index_next(index, hash, &at, &found)) {
        const cp_dot_kind *kind = &tags->kinds[found];
        if (kind->labels == wanted.labels && kind->name == wanted.name &&
            kind->numeric == wanted.numeric) {
            return found;
        }
    }
    tags->kinds =
        cp_heap_grow(tags->kinds, tags->kind_count, &tags->kind_room, sizeof *tags->kinds);
    tags->kinds[tags->kind_count] = wanted;
    cp_index_add(index, hash, tags->kind_count);
    return tags->kind_count++;
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The text labels of a sample as one text; 0: none. */
static cp_string join_labels(cp_profile *profile, const cp_sample *sample)
{
    char **texts = cp_heap_alloc(sample->label_count, sizeof *texts);
    size_t count = 0, length = 0;

    for (uint32_t i = 0; i < sample->label_count; i++) {
        const cp_label *label = &sample->labels[i];
        const char *key = cp_profile_text(profile, label->key);
        if (!label->numeric && strcmp(key, CP_BASE_LABEL) != 0) {
            texts[count] = cp_heap_printf("%s:%s", key, cp_profile_text(profile, label->text));
            length += strlen(texts[count++]) + 2;
        }
    }
    qsort(texts, count, sizeof *texts, compare_texts);
    char *joined = cp_heap_alloc(length + 1, 1), *end = joined;
    for (size_t i = 0; i < count; i++) {
        end = stpcpy(stpcpy(end, i ? "\\n" : ""), texts[i]);
        free(texts[i]);
    }
    cp_string result = cp_strings_put(&profile->strings, joined);
    free(joined);
    free(texts);
    return result;
}

static void add_entry(cp_dot_tags *tags, uint32_t kind, int64_t value, int64_t weight)
{
    tags->entries =
        cp_heap_grow(tags->entries, tags->entry_count, &tags->entry_room, sizeof *tags->entries);
    tags->entries[tags->entry_count++] = (cp_dot_entry){kind, value};
    tags->kinds[kind].sum += (uint64_t)cp_measure_abs(weight);
}

static cp_string number_text(cp_dot_tags *tags, cp_profile *profile, int64_t number)
{
    char *text = cp_measure_label(number, tags->unit, tags->report->output_unit);
    cp_string result = cp_strings_put(&profile->strings, text);

    free(text);
    return result;
}

static void add_sample(cp_dot_tags *tags, cp_index_table *index, cp_profile *profile,
                       const cp_sample *sample)
{
    int64_t weight = sample->values[tags->report->value_index];
    cp_string labels = sample->label_count ? join_labels(profile, sample) : 0;

    if (labels) {
        add_entry(tags, find_kind(tags, index, (cp_dot_kind){.labels = labels}), 0, weight);
    }
    for (uint32_t i = 0; i < sample->label_count; i++) {
        const cp_label *label = &sample->labels[i];
        if (label->numeric && strcmp(cp_profile_text(profile, label->key), "bytes") == 0) {
            cp_string name = number_text(tags, profile, label->number);
            cp_dot_kind kind = {.labels = labels, .name = name, .numeric = true};
            add_entry(tags, find_kind(tags, index, kind), label->number, weight);
        }
    }
}

void cp_dot_tags_init(cp_dot_tags *tags, cp_report *report, int64_t cutoff)
{
    cp_profile *profile = report->profile;
    cp_index_table index;

    *tags = (cp_dot_tags){.report = report, .cutoff = cutoff};
    tags->unit = cp_label_unit(&report->label_units, cp_strings_put(&profile->strings, "bytes"));
    tags->first = cp_heap_alloc((size_t)profile->sample_count + 1, sizeof *tags->first);
    cp_index_init(&index, 64);
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        add_sample(tags, &index, profile, &profile->samples[i]);
        tags->first[i + 1] = (uint32_t)tags->entry_count;
    }
    cp_index_release(&index);
}

void cp_dot_tags_release(cp_dot_tags *tags)
{
    free(tags->kinds);
    free(tags->entries);
    free(tags->first);
    free(tags->tags);
}

/* ---- tags ---- */

typedef struct counter {
    cp_dot_tags *tags;
    const bool *kept;
    cp_index_table index; /* of tags, by node and kind */
    uint32_t *seen;       /* per frame: the last sample that has it, + 1 */
} counter;

static cp_dot_tag *find_tag(counter *c, uint32_t node, const cp_dot_entry *entry)
{
    cp_dot_tags *tags = c->tags;
    const cp_dot_kind *kind = &tags->kinds[entry->kind];
    const uint32_t words[] = {node, entry->kind};
    uint64_t hash = cp_hash_bytes(words, sizeof words, 0), at = hash;
    uint32_t found;

    while (cp_index_next(&c->index, hash, &at, &found)) {
        const cp_dot_tag *tag = &tags->tags[found];
        if (tag->node == node && tag->labels == kind->labels && tag->name == kind->name &&
            tag->numeric == kind->numeric) {
            return &tags->tags[found];
        }
    }
    tags->tags = cp_heap_grow(tags->tags, tags->count, &tags->tag_room, sizeof *tags->tags);
    cp_index_add(&c->index, hash, tags->count);
    cp_dot_tag *tag = &tags->tags[tags->count++];
    *tag = (cp_dot_tag){.node = node,
                        .labels = kind->labels,
                        .name = kind->name,
                        .numeric = kind->numeric,
                        .value = entry->value};
    return tag;
}

/* A tag cannot be larger at a node than in all samples. */
static void add_tags(counter *c, uint32_t sample, uint32_t node, bool flat)
{
    const cp_dot_tags *tags = c->tags;
    int64_t weight = cp_report_sample_value(tags->report, sample);

    for (uint32_t i = tags->first[sample]; i < tags->first[sample + 1]; i++) {
        if (tags->cutoff > 0 && tags->kinds[tags->entries[i].kind].sum < (uint64_t)tags->cutoff) {
            continue;
        }
        cp_dot_tag *tag = find_tag(c, node, &tags->entries[i]);
        int64_t *sum = flat ? &tag->flat : &tag->cum;
        *sum = (int64_t)((uint64_t)*sum + (uint64_t)weight);
    }
}

/* Goes from the root to the leaf, as the graph does. */
static void count_sample(counter *c, uint32_t index)
{
    const cp_frames *frames = &c->tags->report->frames;
    const cp_sample *sample = &c->tags->report->profile->samples[index];
    uint32_t leaf = UINT32_MAX;

    for (uint32_t i = sample->location_count; i-- > 0;) {
        uint32_t first = frames->first_of[sample->locations[i]];

        for (uint32_t line = frames->first_of[sample->locations[i] + 1]; line-- > first;) {
            leaf = frames->of_line[line];
            if (c->kept && !c->kept[leaf]) {
                leaf = UINT32_MAX;
            } else if (c->seen[leaf] != index + 1) {
                c->seen[leaf] = index + 1;
                add_tags(c, index, leaf, false);
            }
        }
    }
    if (leaf != UINT32_MAX) {
        add_tags(c, index, leaf, true);
    }
}

static int compare_nodes(const void *left, const void *right)
{
    const cp_dot_tag *a = left, *b = right;

    return a->node < b->node ? -1 : a->node > b->node;
}

static void drop_small(cp_dot_tags *tags)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < tags->count; i++) {
        const cp_dot_tag *tag = &tags->tags[i];
        if (cp_measure_abs(tag->flat) >= tags->cutoff || cp_measure_abs(tag->cum) >= tags->cutoff) {
            tags->tags[kept++] = *tag;
        }
    }
    tags->count = kept;
    if (kept) {
        qsort(tags->tags, kept, sizeof *tags->tags, compare_nodes);
    }
}

void cp_dot_tags_count(cp_dot_tags *tags, const bool *kept)
{
    counter c = {.tags = tags, .kept = kept};

    tags->count = 0;
    c.seen = cp_heap_alloc(tags->report->frames.count, sizeof *c.seen);
    cp_index_init(&c.index, 1024);
    for (uint32_t i = 0; i < tags->report->profile->sample_count; i++) {
        if (tags->first[i] != tags->first[i + 1] && cp_report_sample_value(tags->report, i)) {
            count_sample(&c, i);
        }
    }
    cp_index_release(&c.index);
    free(c.seen);
    drop_small(tags);
}

const cp_dot_tag *cp_dot_tags_of(const cp_dot_tags *tags, uint32_t node, uint32_t *count)
{
    const cp_dot_tag key = {.node = node};
    const cp_dot_tag *found =
        tags->count ? bsearch(&key, tags->tags, tags->count, sizeof key, compare_nodes) : NULL;

    *count = 0;
    if (!found) {
        return NULL;
    }
    while (found > tags->tags && found[-1].node == node) {
        found--;
    }
    const cp_dot_tag *end = tags->tags + tags->count;
    while (found + *count < end && found[*count].node == node) {
        ++*count;
    }
    return found;
}
