/* SPDX-License-Identifier: MIT
 *
 * delta.c: finds each sample's earlier values in a hash table.
 *
 *   heads: one word a chain -> index + 1 of a sample of `before` -> next -> ... 0
 *
 * Zone: NORMAL.
 */
#include "profile/delta.h"

#include "base/stack_hash.h"
#include "profile/samples.h"

#include <errno.h>
#include <string.h>

typedef struct earlier {
    const pp_profile *before;
    uint32_t *heads;
    uint32_t *next; /* of each sample of `before` */
    bool *is_used;  /* likewise */
    size_t mask;
} earlier;

/* ---- one sample ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        hash = pp_stack_hash_extend(hash, (unsigned char)*text);
    }
    return hash;
}

static uint64_t hash_of(const pp_profile_sample *sample)
{
    uint64_t hash = pp_stack_hash(sample->pc, sample->depth);
    for (uint32_t i = 0; i < sample->label_count; i++) {
        const pp_sample_label *label = &sample->labels[i];
        hash = hash_text(hash_text(hash, label->key), label->text);
        hash = pp_stack_hash_extend(hash, (uintptr_t)label->number);
    }
    return hash;
}

static bool are_texts_equal(const char *x, const char *y)
{
    return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
}

static bool are_labels_equal(const pp_sample_label *x, const pp_sample_label *y)
{
    return x->number == y->number && are_texts_equal(x->key, y->key) &&
           are_texts_equal(x->text, y->text);
}

static bool are_equal(const pp_profile_sample *x, const pp_profile_sample *y)
{
    if (x->depth != y->depth || x->label_count != y->label_count ||
        (x->pc != y->pc && memcmp(x->pc, y->pc, x->depth * sizeof *x->pc) != 0)) {
        return false;
    }
    uint32_t i = 0;
    while (i < x->label_count && are_labels_equal(&x->labels[i], &y->labels[i])) {
        i++;
    }
    return i == x->label_count;
}

/* Subtracts the values; true if any value is left. */
static bool subtract(pp_profile_sample *from, const pp_profile_sample *sample)
{
    int64_t left = 0;
    for (unsigned i = 0; i < PP_MAX_SAMPLE_TYPES; i++) {
        from->value[i] -= sample->value[i];
        left |= from->value[i];
    }
    return left != 0;
}

/* ---- the samples of before ---- */

static int fill(earlier *e, const pp_profile *before, pp_arena *arena)
{
    size_t heads = 16;
    while (heads < 2 * before->sample_count) {
        heads *= 2;
    }
    *e = (earlier){.before = before,
                   .heads = pp_arena_array(arena, heads, sizeof *e->heads),
                   .next = pp_arena_array(arena, before->sample_count, sizeof *e->next),
                   .is_used = pp_arena_array(arena, before->sample_count, sizeof *e->is_used),
                   .mask = heads - 1};
    if (e->heads == NULL || e->next == NULL || e->is_used == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < before->sample_count; i++) {
        uint32_t *head = &e->heads[hash_of(&before->samples[i]) & e->mask];
        e->next[i] = *head;
        *head = (uint32_t)i + 1;
    }
    return 0;
}

/* Takes the sample with the same stack and labels out of the table; NULL: there is none. */
static const pp_profile_sample *take_equal(earlier *e, const pp_profile_sample *sample)
{
    for (uint32_t i = e->heads[hash_of(sample) & e->mask]; i != 0; i = e->next[i - 1]) {
        if (!e->is_used[i - 1] && are_equal(&e->before->samples[i - 1], sample)) {
            e->is_used[i - 1] = true;
            return &e->before->samples[i - 1];
        }
    }
    return NULL;
}

/* ---- all samples ---- */

static const pp_profile_sample nothing;

static void add_rest(pp_samples *samples, earlier *e, const pp_profile *profile)
{
    for (size_t i = 0; i < profile->sample_count; i++) {
        pp_profile_sample left = profile->samples[i];
        const pp_profile_sample *before = take_equal(e, &left);
        if (subtract(&left, before != NULL ? before : &nothing)) {
            pp_samples_add(samples, &left);
        }
    }
}

/* What is gone. */
static void add_negative(pp_samples *samples, const earlier *e)
{
    for (size_t i = 0; i < e->before->sample_count; i++) {
        pp_profile_sample gone = e->before->samples[i];
        memset(gone.value, 0, sizeof gone.value);
        if (!e->is_used[i] && subtract(&gone, &e->before->samples[i])) {
            pp_samples_add(samples, &gone);
        }
    }
}

static unsigned type_shown_first(const pp_profile *profile)
{
    unsigned last = profile->sample_type_count - 1;
    for (unsigned i = 0; profile->default_sample_type != NULL && i < last; i++) {
        if (strcmp(profile->sample_type[i].type, profile->default_sample_type) == 0) {
            return i;
        }
    }
    return last;
}

int pp_profile_subtract(pp_profile *profile, const pp_profile *before, pp_arena *arena)
{
    earlier e;
    pp_samples samples;
    int error = fill(&e, before, arena);
    if (error == 0) {
        error = pp_samples_init(&samples, profile->sample_count + before->sample_count, arena);
    }
    if (error != 0) {
        return error;
    }
    add_rest(&samples, &e, profile);
    add_negative(&samples, &e);
    return pp_samples_give(&samples, type_shown_first(profile), arena, profile);
}

/* ---- a copy ---- */

static const char *copy_text(const char *text, pp_arena *arena)
{
    return text != NULL ? pp_arena_text(arena, text, strlen(text)) : NULL;
}

static const pp_sample_label *copy_labels(const pp_profile_sample *sample, pp_arena *arena)
{
    pp_sample_label *labels = pp_arena_array(arena, sample->label_count, sizeof *labels);
    for (uint32_t i = 0; labels != NULL && i < sample->label_count; i++) {
        labels[i] = sample->labels[i];
        labels[i].key = copy_text(labels[i].key, arena);
        labels[i].text = copy_text(labels[i].text, arena);
        labels[i].unit = copy_text(labels[i].unit, arena);
    }
    return labels;
}

static const uintptr_t *copy_stack(const pp_profile_sample *sample, pp_arena *arena)
{
    uintptr_t *pc = pp_arena_array(arena, sample->depth, sizeof *pc);
    if (pc != NULL && sample->depth > 0) {
        memcpy(pc, sample->pc, sample->depth * sizeof *pc);
    }
    return pc;
}

int pp_profile_copy_samples(const pp_profile *profile, pp_arena *arena, pp_profile *copy)
{
    pp_profile_sample *samples = pp_arena_array(arena, profile->sample_count, sizeof *samples);
    for (size_t i = 0; samples != NULL && i < profile->sample_count; i++) {
        samples[i] = profile->samples[i];
        samples[i].pc = copy_stack(&profile->samples[i], arena);
        samples[i].labels = copy_labels(&profile->samples[i], arena);
    }
    *copy = *profile;
    copy->samples = samples;
    return arena->failed ? -ENOMEM : 0;
}
