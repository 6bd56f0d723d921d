/* SPDX-License-Identifier: MIT
 *
 * tally.c: see tally.h.

 */
#include "agent/tally.h"

#include "base/message.h"
#include "base/pool.h"
#include "base/string_pool.h"
#include "profile/profile_model.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64 };

void cp_tally_release(cp_tally *t)
{
    if (t->of.slots) {
        cp_index_release(&t->of);
    }
    free(t->stacks);
    free(t->sums);
    memset(t, 0, sizeof *t);
}

/* ---- types ---- */

bool cp_tally_accumulates(const char *type)
{
    static const char *const types[] = {"samples",       "cpu",         "latency",     "wall",
                                        "alloc_objects", "alloc_space", "contentions", "delay"};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(type, types[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- stacks ---- */

static uint64_t hash_text(const cp_profile *p, cp_string string, uint64_t seed)
{
    const uint64_t length = cp_strings_length(&p->strings, string);

    seed = cp_hash_stable(&length, sizeof length, seed);
    return cp_hash_stable(cp_profile_text(p, string), length, seed);
}

/* Of each mapping, and of no mapping at the end. Addresses are the process's own: a file that has come to the place of
 * another one is told by its name. Memory without a file is named by its beginning, which moves when the kernel joins or
 * splits it, and it may be gone while its samples stay: its addresses alone count. */
static uint64_t *hash_mappings(const cp_profile *p)
{
    uint64_t *hashes = cp_heap_alloc((size_t)p->mapping_count + 1, sizeof *hashes);

    for (uint32_t i = 0; i < p->mapping_count; i++) {
        const cp_mapping *m = &p->mappings[i];
        bool is_file = *cp_profile_text(p, m->file) == '/';
        hashes[i] = is_file ? hash_text(p, m->build_id, hash_text(p, m->file, m->start)) : 0;
    }
    hashes[p->mapping_count] = 0;
    return hashes;
}

static uint64_t hash_sample(const cp_profile *p, const cp_sample *s, const uint64_t *mappings)
{
    uint64_t hash = s->location_count;

    for (uint32_t i = 0; i < s->location_count; i++) {
        const cp_location *l = &p->locations[s->locations[i]];
        uint32_t mapping = l->mapping == CP_NO_MAPPING ? p->mapping_count : l->mapping;
        const uint64_t words[] = {l->address, mappings[mapping]};
        hash = cp_hash_stable(words, sizeof words, hash);
    }
    for (uint32_t i = 0; i < s->label_count; i++) {
        if (!s->labels[i].numeric) {
            hash = hash_text(p, s->labels[i].text, hash_text(p, s->labels[i].key, hash));
        }
    }
    return hash;
}

static uint32_t find_or_add(cp_tally *t, uint64_t hash)
{
    uint64_t at = hash;
    uint32_t number;

    if (!t->of.slots) {
        cp_index_init(&t->of, SLOTS);
    }
    if (cp_index_next(&t->of, hash, &at, &number)) {
        return number;
    }
    number = (uint32_t)t->count;
    t->stacks = cp_heap_grow(t->stacks, t->count, &t->stack_room, sizeof *t->stacks);
    t->sums = cp_heap_grow(t->sums, t->count, &t->sum_room, t->types * sizeof *t->sums);
    t->stacks[number] = hash;
    memset(t->sums + (size_t)number * t->types, 0, t->types * sizeof *t->sums);
    t->count++;
    cp_index_add(&t->of, hash, number);
    return number;
}

/* ---- taking ---- */

static void forget_sums(cp_tally *t, const cp_profile *p)
{
    int64_t until_ns = t->until_ns;

    cp_tally_release(t);
    t->until_ns = until_ns;
    t->types = p->sample_type_count;
}

static void drop_numbers(cp_sample *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->label_count; i++) {
        if (!s->labels[i].numeric) {
            s->labels[kept++] = s->labels[i];
        }
    }
    s->label_count = kept;
}

/* A wait that goes on, in a block or mutex profile, is counted when it is over. */
static bool goes_on(const cp_profile *p, const cp_sample *s)
{
    for (uint32_t i = 0; i < s->label_count; i++) {
        if (!s->labels[i].numeric && strcmp(cp_profile_text(p, s->labels[i].key), "state") == 0 &&
            strcmp(cp_profile_text(p, s->labels[i].text), "waiting") == 0) {
            return true;
        }
    }
    return false;
}

/* Leaves out what a difference cannot have. */
static void prepare(const cp_profile *p)
{
    for (uint32_t i = 0; i < p->sample_count; i++) {
        if (goes_on(p, &p->samples[i])) {
            memset(p->samples[i].values, 0, p->sample_type_count * sizeof(int64_t));
        }
        drop_numbers(&p->samples[i]);
    }
}

/* Adds a sample to the first one of its stack. */
static void join(cp_sample *first, cp_sample *other, unsigned types)
{
    for (unsigned i = 0; i < types; i++) {
        int64_t sum = 0;
        first->values[i] =
            __builtin_add_overflow(first->values[i], other->values[i], &sum) ? INT64_MAX : sum;
        other->values[i] = 0;
    }
}

/* `sums`: of the sample's stack. */
static void subtract(const cp_profile *p, cp_sample *s, int64_t *sums)
{
    for (uint32_t i = 0; i < p->sample_type_count; i++) {
        if (!cp_tally_accumulates(cp_profile_text(p, p->sample_types[i].type))) {
            continue;
        }
        int64_t now = s->values[i], before = sums[i];
        s->values[i] = now > before ? now - before : 0;
        sums[i] = now > before ? now : before;
    }
}

static uint64_t *hash_samples(const cp_profile *p)
{
    uint64_t *hashes = cp_heap_alloc((size_t)p->sample_count + 1, sizeof *hashes);
    uint64_t *mappings = hash_mappings(p);

    for (uint32_t i = 0; i < p->sample_count; i++) {
        hashes[i] = hash_sample(p, &p->samples[i], mappings);
    }
    free(mappings);
    return hashes;
}

static size_t count_unknown(const cp_tally *t, const uint64_t *hashes, size_t count)
{
    size_t unknown = 0;
    uint32_t number;

    for (size_t i = 0; i < count; i++) {
        uint64_t at = hashes[i];
        unknown += !t->of.slots || !cp_index_next(&t->of, hashes[i], &at, &number);
    }
    return unknown;
}

int cp_tally_take(cp_tally *t, cp_profile *p, int64_t run, cp_error *error)
{
    if (p->sample_type_count == 0 || p->sample_type_count > CP_TALLY_TYPES) {
        return cp_fail(error, "a profile of %u sample types", p->sample_type_count);
    }
    bool is_same = t->types == p->sample_type_count && t->run == run;
    uint64_t *hashes = hash_samples(p);
    size_t stacks =
        is_same ? t->count + count_unknown(t, hashes, p->sample_count) : p->sample_count;
    if (stacks > CP_TALLY_STACKS) {
        free(hashes);
        return cp_fail(error, "more than %d stacks", CP_TALLY_STACKS);
    }
    if (!is_same) {
        forget_sums(t, p);
        t->run = run;
    }
    prepare(p);
    uint32_t *numbers = cp_heap_alloc((size_t)p->sample_count + 1, sizeof *numbers);
    for (uint32_t i = 0; i < p->sample_count; i++) {
        numbers[i] = find_or_add(t, hashes[i]);
    }
    free(hashes);
    cp_sample **first = cp_heap_alloc(t->count + 1, sizeof(void *));
    for (uint32_t i = 0; i < p->sample_count; i++) {
        if (first[numbers[i]]) {
            join(first[numbers[i]], &p->samples[i], t->types);
        } else {
            first[numbers[i]] = &p->samples[i];
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        if (first[i]) {
            subtract(p, first[i], t->sums + i * t->types);
        }
    }
    free(first);
    free(numbers);
    return 0;
}

/* ---- files ---- */

static const char magic[8] = "cptally1";

typedef struct file_head {
    char magic[8];
    int64_t run, until_ns;
    uint64_t types, count;
} file_head;

void cp_tally_write(const cp_tally *t, FILE *out)
{
    file_head head = {.run = t->run, .until_ns = t->until_ns, .types = t->types, .count = t->count};

    memcpy(head.magic, magic, sizeof magic);
    fwrite(&head, sizeof head, 1, out);
    fwrite(t->stacks, sizeof *t->stacks, t->count, out);
    fwrite(t->sums, sizeof *t->sums * t->types, t->count, out);
}

static bool read_stacks(cp_tally *t, size_t count, FILE *in)
{
    uint64_t *stacks = cp_heap_alloc(count + 1, sizeof *stacks);
    bool is_whole = fread(stacks, sizeof *stacks, count, in) == count;

    for (size_t i = 0; i < count && is_whole; i++) {
        is_whole = find_or_add(t, stacks[i]) == i; /* none comes twice */
    }
    free(stacks);
    return is_whole && fread(t->sums, sizeof *t->sums * t->types, count, in) == count;
}

bool cp_tally_read(cp_tally *t, FILE *in)
{
    file_head head;

    cp_tally_release(t);
    if (fread(&head, sizeof head, 1, in) != 1 || memcmp(head.magic, magic, sizeof magic) != 0 ||
        head.types > CP_TALLY_TYPES || head.count > CP_TALLY_STACKS ||
        (head.types == 0 && head.count > 0)) {
        return false;
    }
    t->run = head.run;
    t->until_ns = head.until_ns;
    t->types = (unsigned)head.types;
    bool is_whole = head.count == 0 || read_stacks(t, (size_t)head.count, in);
    if (!is_whole) {
        cp_tally_release(t);
    }
    return is_whole;
}
