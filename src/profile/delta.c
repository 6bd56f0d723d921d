/* SPDX-License-Identifier: MIT
 *
 * delta.c: finds equal samples in a hash table. Some are equal in one profile, too: of one stack in two tables, or of
 * label sets with equal texts. They are added up.
 *
 *   heads: one word a chain -> index + 1 of a sample -> next -> ... 0
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "profile/delta.h"

#include "base/stack_hash.h"
#include "profile/samples.h"

#include <errno.h>
#include <string.h>

/* The samples of both profiles, each stack with its labels once. */
typedef struct sums {
    pp_samples samples;
    uint32_t *heads;
    uint32_t *next; /* of each sample */
    size_t mask;
} sums;

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

/* ---- both profiles ---- */

static int begin(sums *s, size_t capacity, pp_arena *arena)
{
    size_t heads = 16;
    while (heads < 2 * capacity) {
        heads *= 2;
    }
    *s = (sums){.heads = pp_arena_array(arena, heads, sizeof *s->heads),
                .next = pp_arena_array(arena, capacity, sizeof *s->next),
                .mask = heads - 1};
    return s->heads != NULL && s->next != NULL ? pp_samples_init(&s->samples, capacity, arena)
                                               : -ENOMEM;
}

/* The sum that the sample belongs to, which is 0 where it is new. */
static pp_profile_sample *sum_of(sums *s, const pp_profile_sample *sample)
{
    uint32_t *head = &s->heads[hash_of(sample) & s->mask];
    for (uint32_t i = *head; i != 0; i = s->next[i - 1]) {
        if (are_equal(&s->samples.list[i - 1], sample)) {
            return &s->samples.list[i - 1];
        }
    }
    pp_profile_sample *sum = &s->samples.list[s->samples.count];
    pp_samples_add(&s->samples, sample);
    memset(sum->value, 0, sizeof sum->value);
    s->next[s->samples.count - 1] = *head;
    *head = (uint32_t)s->samples.count;
    return sum;
}

static void add(sums *s, const pp_profile *profile, int64_t factor)
{
    for (size_t i = 0; i < profile->sample_count; i++) {
        pp_profile_sample *sum = sum_of(s, &profile->samples[i]);
        for (unsigned k = 0; k < PP_MAX_SAMPLE_TYPES; k++) {
            sum->value[k] += factor * profile->samples[i].value[k];
        }
    }
}

static void drop_zeros(pp_samples *samples)
{
    size_t kept = 0;
    for (size_t i = 0; i < samples->count; i++) {
        int64_t any = 0;
        for (unsigned k = 0; k < PP_MAX_SAMPLE_TYPES; k++) {
            any |= samples->list[i].value[k];
        }
        if (any != 0) {
            samples->list[kept++] = samples->list[i];
        }
    }
    samples->count = kept;
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
    sums s;
    int error = begin(&s, profile->sample_count + before->sample_count, arena);
    if (error != 0) {
        return error;
    }
    add(&s, profile, 1);
    add(&s, before, -1);
    drop_zeros(&s.samples);
    return pp_samples_give(&s.samples, type_shown_first(profile), arena, profile);
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
