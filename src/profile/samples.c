/* SPDX-License-Identifier: MIT
 *
 * samples.c: the order of samples (contract in the header).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.count_profile, unit.sample_labels
 */
#include "profile/samples.h"

#include "base/quoted.h"
#include "base/sort.h"
#include "base/stack_order.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

typedef struct order {
    const pp_profile_sample *list;
    unsigned by;
    int (*compare_ties)(const pp_profile_sample *x, const pp_profile_sample *y);
} order;

int pp_samples_init(pp_samples *samples, size_t capacity, pp_arena *arena)
{
    samples->count = 0;
    samples->capacity = capacity;
    samples->list = pp_arena_array(arena, capacity + 1, sizeof *samples->list);
    return samples->list != NULL ? 0 : -ENOMEM;
}

void pp_samples_add(pp_samples *samples, const pp_profile_sample *sample)
{
    if (samples->count < samples->capacity) {
        samples->list[samples->count++] = *sample;
    }
}

static int compare_texts(const char *x, const char *y)
{
    return x != NULL && y != NULL ? strcmp(x, y) : (x != NULL) - (y != NULL);
}

static int compare_labels(const pp_profile_sample *x, const pp_profile_sample *y)
{
    for (uint32_t i = 0; i < x->label_count && i < y->label_count; i++) {
        int by_text = compare_texts(x->labels[i].key, y->labels[i].key);
        by_text = by_text != 0 ? by_text : compare_texts(x->labels[i].text, y->labels[i].text);
        if (by_text != 0) {
            return by_text;
        }
        if (x->labels[i].number != y->labels[i].number) {
            return x->labels[i].number < y->labels[i].number ? -1 : 1;
        }
    }
    return (x->label_count > y->label_count) - (x->label_count < y->label_count);
}

const pp_sample_label *pp_sample_next_label(const pp_profile_sample *sample,
                                            const pp_sample_label *last)
{
    const pp_sample_label *next = NULL;
    for (uint32_t i = 0; i < sample->label_count; i++) {
        const pp_sample_label *label = &sample->labels[i];
        if (label->text != NULL && (last == NULL || pp_quoted_compare(last->key, label->key) < 0) &&
            (next == NULL || pp_quoted_compare(label->key, next->key) < 0)) {
            next = label;
        }
    }
    return next;
}

/* A longer list comes before its own beginning ("," is less than "}"), but no labels at all come
 * first. */
static int compare_label_texts(const pp_profile_sample *x, const pp_profile_sample *y)
{
    const pp_sample_label *a = pp_sample_next_label(x, NULL);
    const pp_sample_label *b = pp_sample_next_label(y, NULL);
    if (a == NULL || b == NULL) {
        return (a != NULL) - (b != NULL);
    }
    while (a != NULL && b != NULL) {
        int by_key = pp_quoted_compare(a->key, b->key);
        int by_text = by_key != 0 ? by_key : pp_quoted_compare(a->text, b->text);
        if (by_text != 0) {
            return by_text;
        }
        a = pp_sample_next_label(x, a);
        b = pp_sample_next_label(y, b);
    }
    return (a == NULL) - (b == NULL);
}

static int compare_as_numbers(const pp_profile_sample *x, const pp_profile_sample *y)
{
    int by_stack = pp_stack_compare(x->pc, x->depth, y->pc, y->depth);
    return by_stack != 0 ? by_stack : compare_labels(x, y);
}

static int compare_as_texts(const pp_profile_sample *x, const pp_profile_sample *y)
{
    int by_stack = pp_stack_compare_texts(x->pc, x->depth, y->pc, y->depth);
    return by_stack != 0 ? by_stack : compare_label_texts(x, y);
}

static int compare(const void *a, const void *b, void *context)
{
    const order *o = context;
    const pp_profile_sample *x = &o->list[*(const uint32_t *)a];
    const pp_profile_sample *y = &o->list[*(const uint32_t *)b];
    if (x->value[o->by] != y->value[o->by]) {
        return x->value[o->by] > y->value[o->by] ? -1 : 1;
    }
    return o->compare_ties(x, y);
}

/* Sorts indices, because the sort needs small items. */
static int give(const pp_samples *samples, const order *wanted, pp_arena *arena,
                pp_profile *profile)
{
    uint32_t *indices = pp_arena_array(arena, samples->count + 1, sizeof *indices);
    pp_profile_sample *sorted = pp_arena_array(arena, samples->count + 1, sizeof *sorted);
    order by_value = *wanted;
    if (indices == NULL || sorted == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < samples->count; i++) {
        indices[i] = (uint32_t)i;
    }
    pp_sort(indices, samples->count, sizeof *indices, compare, &by_value);
    for (size_t i = 0; i < samples->count; i++) {
        sorted[i] = samples->list[indices[i]];
    }
    profile->samples = sorted;
    profile->sample_count = samples->count;
    return 0;
}

int pp_samples_give(const pp_samples *samples, unsigned by, pp_arena *arena, pp_profile *profile)
{
    const order wanted = {.list = samples->list, .by = by, .compare_ties = compare_as_numbers};
    return give(samples, &wanted, arena, profile);
}

int pp_samples_give_as_texts(const pp_samples *samples, unsigned by, pp_arena *arena,
                             pp_profile *profile)
{
    const order wanted = {.list = samples->list, .by = by, .compare_ties = compare_as_texts};
    return give(samples, &wanted, arena, profile);
}

/* ---- labels ---- */

static bool has_key(const pp_sample_label *own, uint32_t own_count, const char *key)
{
    for (uint32_t i = 0; i < own_count; i++) {
        if (strcmp(own[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

bool pp_labels_to_sample_labels(const pprof_labels *labels, const pp_sample_label *own,
                                uint32_t own_count, pp_arena *arena, pp_profile_sample *sample)
{
    sample->labels = own;
    sample->label_count = own_count;
    if (pp_labels_is_empty(labels)) {
        return true;
    }
    size_t room = (size_t)labels->count + own_count;
    pp_sample_label *list = pp_arena_array(arena, room, sizeof *list);
    char *texts = pp_arena_text(arena, pp_labels_texts(labels), labels->text_bytes);
    if (list == NULL || texts == NULL) {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < labels->count; i++) {
        const char *key = texts;
        const char *value = key + strlen(key) + 1;
        if (!has_key(own, own_count, key)) {
            list[count++] = (pp_sample_label){.key = key, .text = value};
        }
        texts += value - key + (ptrdiff_t)strlen(value) + 1;
    }
    if (own_count > 0) {
        memcpy(&list[count], own, own_count * sizeof *own);
    }
    sample->labels = list;
    sample->label_count = count + own_count;
    return true;
}
