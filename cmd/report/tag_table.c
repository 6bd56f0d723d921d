/* SPDX-License-Identifier: MIT
 *
 * tag_table.c: see tag_table.h.
 *
 * A first table adds up equal labels; texts are made once for each of its rows, not for each
 * sample. Then rows with equal texts become one.
 *
 * Owns: the first table, while it is built.
 * Tested by: unit.cmd_reports, e2e.cpprof_reports.
 */
#include "report/tag_table.h"

#include "base/index_table.h"
#include "base/measurement.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

typedef struct labels {
    cp_label *labels;
    int64_t *sums; /* per label */
    uint32_t count, capacity;
    cp_index_table index;
} labels;

static bool same_label(const cp_label *left, const cp_label *right)
{
    return left->key == right->key && left->numeric == right->numeric &&
           left->number == right->number && (left->numeric || left->text == right->text);
}

static void append_label(labels *known, const cp_label *label)
{
    if (known->count == known->capacity) {
        known->capacity = known->capacity ? 2 * known->capacity : 64;
        known->labels = cp_heap_resize(known->labels, known->capacity, sizeof *known->labels);
        known->sums = cp_heap_resize(known->sums, known->capacity, sizeof *known->sums);
    }
    known->labels[known->count] = *label;
    known->sums[known->count++] = 0;
}

static void add(labels *known, const cp_label *label, int64_t value)
{
    const uint64_t words[] = {label->key, label->numeric, (uint64_t)label->number,
                              label->numeric ? 0 : label->text};
    uint64_t hash = cp_hash_bytes(words, sizeof words, 0);
    uint64_t at = hash;
    uint32_t index;
    bool found = false;

    while (!found && cp_index_next(&known->index, hash, &at, &index)) {
        found = same_label(&known->labels[index], label);
    }
    if (!found) {
        index = known->count;
        append_label(known, label);
        cp_index_add(&known->index, hash, index);
    }
    known->sums[index] = (int64_t)((uint64_t)known->sums[index] + (uint64_t)value);
}

static void add_all(labels *known, const cp_report *report)
{
    for (uint32_t i = 0; i < report->profile->sample_count; i++) {
        const cp_sample *sample = &report->profile->samples[i];

        for (uint32_t j = 0; j < sample->label_count; j++) {
            add(known, &sample->labels[j], cp_report_sample_value(report, i));
        }
    }
}

static const char *value_text(cp_tags *tags, const cp_report *report, const cp_label *label)
{
    if (!label->numeric) {
        return cp_profile_text(report->profile, label->text);
    }
    char *text = cp_measure_label(label->number, cp_label_unit(&report->label_units, label->key),
                                  report->output_unit);
    const char *copy = cp_pool_copy(&tags->pool, text, strlen(text));
    free(text);
    return copy;
}

static int compare_texts(const void *left, const void *right)
{
    const cp_tag *a = left, *b = right;
    int order = strcmp(a->key, b->key);

    return order ? order : strcmp(a->value, b->value);
}

static int compare_sums(const void *left, const void *right)
{
    const cp_tag *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    int64_t x = cp_measure_abs(a->sum), y = cp_measure_abs(b->sum);

    if (order == 0 && x != y) {
        order = x > y ? -1 : 1;
    }
    return order ? order : strcmp(a->value, b->value);
}

static void join_equal(cp_tags *tags)
{
    uint32_t joined = 0;

    qsort(tags->rows, tags->count, sizeof *tags->rows, compare_texts);
    for (uint32_t i = 0; i < tags->count; i++) {
        cp_tag *last = &tags->rows[joined - (joined > 0)];

        if (joined && compare_texts(last, &tags->rows[i]) == 0) {
            last->sum = (int64_t)((uint64_t)last->sum + (uint64_t)tags->rows[i].sum);
        } else {
            tags->rows[joined++] = tags->rows[i];
        }
    }
    tags->count = joined;
}

void cp_tags_init(cp_tags *tags, const cp_report *report)
{
    labels known = {0};

    cp_pool_init(&tags->pool);
    cp_index_init(&known.index, 64);
    add_all(&known, report);
    tags->count = known.count;
    tags->rows = cp_heap_alloc(known.count, sizeof *tags->rows);
    for (uint32_t i = 0; i < known.count; i++) {
        tags->rows[i] = (cp_tag){cp_profile_text(report->profile, known.labels[i].key),
                                 value_text(tags, report, &known.labels[i]), known.sums[i]};
    }
    cp_index_release(&known.index);
    free(known.labels);
    free(known.sums);
    join_equal(tags);
    qsort(tags->rows, tags->count, sizeof *tags->rows, compare_sums);
}

void cp_tags_release(cp_tags *tags)
{
    free(tags->rows);
    cp_pool_release(&tags->pool);
}

uint32_t cp_tags_end(const cp_tags *tags, uint32_t first)
{
    uint32_t end = first;

    while (end < tags->count && strcmp(tags->rows[end].key, tags->rows[first].key) == 0) {
        end++;
    }
    return end;
}

int64_t cp_tags_sum(const cp_tags *tags, uint32_t first, uint32_t end)
{
    uint64_t sum = 0;

    for (uint32_t i = first; i < end; i++) {
        sum += (uint64_t)tags->rows[i].sum;
    }
    return (int64_t)sum;
}
