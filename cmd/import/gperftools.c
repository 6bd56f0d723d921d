/* SPDX-License-Identifier: MIT
 *
 * gperftools.c: reads the binary CPU format of gperftools (and of PPROF_FORMAT_LEGACY).
 *
 *   words, 4 or 8 bytes each, of either byte order:
 *     0  3  0  period in microseconds  0             header
 *     count  depth  pc[depth]                        one for each stack, the leaf first
 *     0  1  0                                        end
 *   text: /proc/self/maps
 *
 * The addresses after the leaf are return addresses; one byte less is inside the call. The format
 * has no names. Each location gets a mapping, so that reports can name at least the program.
 *
 * Owns: nothing after the call.
 */
#include "import/formats.h"

#include "base/index_table.h"
#include "base/message.h"
#include "base/pool.h"
#include "import/memory_map.h"
#include "profile/profile_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5

typedef struct words {
    const uint8_t *data, *at, *end;
    unsigned size; /* of a word */
    bool big_endian;
} words;

typedef struct builder {
    words words;
    cp_profile *profile;
    cp_error *error;
    cp_index_table locations; /* by address */
} builder;

/* ---- words ---- */

static bool next_word(words *w, uint64_t *word)
{
    if ((size_t)(w->end - w->at) < w->size) {
        return false;
    }
    *word = 0;
    for (unsigned i = 0; i < w->size; i++) {
        unsigned byte = w->big_endian ? i : w->size - 1 - i;
        *word = *word << 8 | w->at[byte];
    }
    w->at += w->size;
    return true;
}

static bool open_words(words *w, const uint8_t *data, size_t length, uint64_t *period_us)
{
    for (unsigned variant = 0; variant < 4; variant++) {
        unsigned got = 0;

        *w = (words){data, data, data + length, variant < 2 ? 4 : 8, variant % 2};
        uint64_t header[HEADER_WORDS];
        while (got < HEADER_WORDS && next_word(w, &header[got])) {
            got++;
        }
        if (got == HEADER_WORDS && header[0] == 0 && header[1] == 3 && header[2] == 0 &&
            header[3] > 0 && header[4] == 0) {
            *period_us = header[3];
            return true;
        }
    }
    return false;
}

static bool recognize(const uint8_t *data, size_t length)
{
    words w;
    uint64_t period_us;
    return open_words(&w, data, length, &period_us);
}

/* ---- samples ---- */

static int bad_stack(builder *b, const uint8_t *at, uint64_t depth)
{
    const words *w = &b->words;

    return cp_fail(b->error,
                   "byte %zu: expected a stack that fits into the file, found one of %" PRIu64
                   " frames with %zu bytes left",
                   (size_t)(at - w->data), depth, (size_t)(w->end - w->at));
}

static void add_sample(builder *b, const uint64_t *addresses, uint64_t count, uint32_t depth)
{
    cp_profile *profile = b->profile;
    cp_sample *sample = &profile->samples[profile->sample_count++];

    sample->locations = CP_POOL_ARRAY(&profile->pool, uint32_t, depth);
    sample->location_count = depth;
    for (uint32_t i = 0; i < depth; i++) {
        sample->locations[i] =
            cp_profile_location_at(b->profile, &b->locations, addresses[i] - (i > 0));
    }
    sample->values = CP_POOL_ARRAY(&profile->pool, int64_t, 2);
    sample->values[0] = (int64_t)count;
    sample->values[1] = (int64_t)(count * (uint64_t)profile->period);
}

static int read_samples(builder *b)
{
    words *w = &b->words;
    uint64_t *addresses = cp_heap_alloc((size_t)(w->end - w->at) / w->size + 1, 8);
    int status = 0;

    uint64_t count, depth;
    for (;;) {
        const uint8_t *record = w->at;

        if (!next_word(w, &count) || !next_word(w, &depth)) {
            status = cp_fail(b->error,
                             "byte %zu: expected the record that ends the samples, found the end "
                             "of the file",
                             (size_t)(record - w->data));
            break;
        }
        if (depth > (uint64_t)(w->end - w->at) / w->size) {
            status = bad_stack(b, record, depth);
            break;
        }
        for (uint64_t i = 0; i < depth; i++) {
            next_word(w, &addresses[i]);
        }
        if (count == 0 && depth == 1 && addresses[0] == 0) {
            break;
        }
        add_sample(b, addresses, count, (uint32_t)depth);
    }
    free(addresses);
    return status;
}

/* ---- frames of the profiler itself ---- */

static uint64_t second_address(const cp_profile *profile, uint32_t sample)
{
    return profile->locations[profile->samples[sample].locations[1]].address;
}

static void remove_second(cp_sample *sample)
{
    for (uint32_t i = 2; i < sample->location_count; i++) {
        sample->locations[i - 1] = sample->locations[i];
    }
    sample->location_count--;
}

/* If nearly all samples have the same frame after the leaf, that frame is the signal handler's: the
 * unwinder put it between the interrupted function and its caller. A majority vote finds the
 * candidate; then it is counted. */
static bool remove_handler_frame(cp_profile *profile)
{
    uint32_t margin = profile->sample_count / 32, votes = 0, matches = 0;
    uint64_t candidate = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (profile->samples[i].location_count < 2) {
            continue;
        }
        if (votes == 0) {
            candidate = second_address(profile, i);
        }
        votes = second_address(profile, i) == candidate ? votes + 1 : votes - 1;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        matches +=
            profile->samples[i].location_count >= 2 && second_address(profile, i) == candidate;
    }
    if (matches == 0 || matches < profile->sample_count - margin) {
        return false;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (profile->samples[i].location_count >= 2 && second_address(profile, i) == candidate) {
            remove_second(&profile->samples[i]);
        }
    }
    return true;
}

/* The leaf comes from the signal's context. The unwinder may have returned it a second time. */
static void remove_doubled_leaves(cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        cp_sample *sample = &profile->samples[i];
        if (sample->location_count > 1 &&
            profile->locations[sample->locations[0]].address == second_address(profile, i) + 1) {
            remove_second(sample);
        }
    }
}

/* ---- all of it ---- */

/* The sizes are upper bounds: a record has at least three words, an address one. */
static void allocate(builder *b, uint64_t period_us)
{
    cp_profile *profile = b->profile;
    size_t w = (size_t)(b->words.end - b->words.at) / b->words.size;

    profile->samples = CP_POOL_ARRAY(&profile->pool, cp_sample, w / 2 + 1);
    profile->locations = CP_POOL_ARRAY(&profile->pool, cp_location, w + 1);
    cp_index_init(&b->locations, 64);

    profile->sample_types = CP_POOL_ARRAY(&profile->pool, cp_value_type, 2);
    profile->sample_type_count = 2;
    profile->sample_types[0].type = cp_strings_put(&profile->strings, "samples");
    profile->sample_types[0].unit = cp_strings_put(&profile->strings, "count");
    profile->sample_types[1].type = cp_strings_put(&profile->strings, "cpu");
    profile->sample_types[1].unit = cp_strings_put(&profile->strings, "nanoseconds");
    profile->period_type = profile->sample_types[1];
    profile->period = (int64_t)(period_us * 1000);
}

static int decode_words(builder *b)
{
    cp_profile *profile = b->profile;

    if (read_samples(b) < 0) {
        return -1;
    }
    if (remove_handler_frame(profile)) {
        remove_handler_frame(profile);
    }
    cp_memory_map_read(profile, (const char *)b->words.at, (size_t)(b->words.end - b->words.at));
    remove_doubled_leaves(profile);
    return 0;
}

static int decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    builder b = {.error = error};

    uint64_t period_us;
    if (!open_words(&b.words, data, length, &period_us)) {
        return cp_fail(error, "byte 0: expected the header of a gperftools profile, found none");
    }
    b.profile = cp_profile_new();
    allocate(&b, period_us);
    int status = decode_words(&b);
    cp_index_release(&b.locations);
    if (status < 0) {
        cp_profile_free(b.profile);
        return -1;
    }
    *out = b.profile;
    return 0;
}

const cp_format cp_gperftools = {recognize, decode};
