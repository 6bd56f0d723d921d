/* SPDX-License-Identifier: MIT
 *
 * stack_sums.c: see stack_sums.h.
 *
 * Owns: the index, while the stacks are added up.
 * Tested by: e2e.cpprof_convert.
 */
#include "convert/stack_sums.h"

#include "base/index_table.h"
#include "base/measurement.h"
#include "base/message.h"
#include "profile/profile_model.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct adder {
    cp_stack_sums *sums;
    const cp_report *report;
    cp_index_table index;
    uint32_t *frames; /* of the current sample */
    size_t frame_count, room;
} adder;

static size_t count_frames(const cp_frames *frames, const cp_sample *sample)
{
    size_t count = 0;

    for (uint32_t i = 0; i < sample->location_count; i++) {
        count +=
            frames->first_of[sample->locations[i] + 1] - frames->first_of[sample->locations[i]];
    }
    return count;
}

/* Lists the frames of a sample from the root to the leaf. */
static void list_frames(adder *a, const cp_sample *sample)
{
    const cp_frames *frames = &a->report->frames;

    a->frame_count = 0;
    if (count_frames(frames, sample) > a->room) {
        a->room = 2 * count_frames(frames, sample);
        a->frames = cp_heap_resize(a->frames, a->room, sizeof *a->frames);
    }
    for (uint32_t i = sample->location_count; i-- > 0;) {
        uint32_t first = frames->first_of[sample->locations[i]];

        for (uint32_t line = frames->first_of[sample->locations[i] + 1]; line-- > first;) {
            a->frames[a->frame_count++] = frames->of_line[line];
        }
    }
}

static cp_stack_sum *find_or_add(adder *a)
{
    cp_stack_sums *sums = a->sums;
    size_t bytes = a->frame_count * sizeof *a->frames;
    uint64_t hash = cp_hash_bytes(a->frames, bytes, 0), at = hash;
    uint32_t index;

    while (cp_index_next(&a->index, hash, &at, &index)) {
        if (sums->stacks[index].frame_count == a->frame_count &&
            (!bytes || memcmp(sums->stacks[index].frames, a->frames, bytes) == 0)) {
            return &sums->stacks[index];
        }
    }
    uint32_t *copy = cp_pool_words(&sums->pool, a->frame_count, sizeof *copy);
    if (bytes) {
        memcpy(copy, a->frames, bytes);
    }
    cp_stack_sum *sum = &sums->stacks[sums->count];
    *sum = (cp_stack_sum){.frames = copy, .frame_count = (uint32_t)a->frame_count};
    sum->values =
        cp_pool_words(&sums->pool, a->report->profile->sample_type_count, sizeof *sum->values);
    cp_index_add(&a->index, hash, sums->count++);
    return sum;
}

static void add_sample(adder *a, const cp_sample *sample)
{
    list_frames(a, sample);
    cp_stack_sum *sum = find_or_add(a);
    for (uint32_t i = 0; i < a->report->profile->sample_type_count; i++) {
        sum->values[i] = (int64_t)((uint64_t)sum->values[i] + (uint64_t)sample->values[i]);
    }
}

void cp_stack_sums_init(cp_stack_sums *sums, const cp_report *report)
{
    adder a = {.sums = sums, .report = report};

    *sums = (cp_stack_sums){0};
    cp_pool_init(&sums->pool);
    sums->stacks = cp_heap_alloc(report->profile->sample_count, sizeof *sums->stacks);
    cp_index_init(&a.index, 1024);
    for (uint32_t i = 0; i < report->profile->sample_count; i++) {
        add_sample(&a, &report->profile->samples[i]);
    }
    cp_index_release(&a.index);
    free(a.frames);
}

void cp_stack_sums_release(cp_stack_sums *sums)
{
    free(sums->stacks);
    cp_pool_release(&sums->pool);
}

void cp_stack_sums_warn(const cp_stack_sums *sums, uint32_t type)
{
    uint32_t negative = 0;

    for (uint32_t i = 0; i < sums->count; i++) {
        negative += sums->stacks[i].values[type] < 0;
    }
    if (negative) {
        cp_complain("warning: %" PRIu32 " stack%s with a value below 0 %s left out: this format "
                    "has none; the page and pb.gz have",
                    negative, negative == 1 ? "" : "s", negative == 1 ? "is" : "are");
    }
}
