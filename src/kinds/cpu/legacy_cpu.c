/* SPDX-License-Identifier: MIT
 *
 * legacy_cpu.c: writes records as native words, through a small buffer, and then the maps; the
 * header has the layout.
 *
 * Readers change a record (profile/legacy_profile.go of google/pprof), so this file writes what
 * they change into the right stack:
 *   - Readers subtract 1 from every address except the first. So the leaf is written as the
 *     address of the instruction, one below the model's return-like address, and callers are
 *     written as they are.
 *   - If nearly all samples share their second frame, readers take it for the signal handler's and
 *     remove it, and do so twice. Where that frame is a real one (a program with one hot call site)
 *     it is written three times, so one is left.
 *   - If the first caller equals the leaf after the subtraction, readers take it for a copy and
 *     remove it once. A real one (a recursive call that has just returned) is written twice.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio).
 */
#include "kinds/cpu/legacy_cpu.h"

#include "modules/maps.h"

#include <errno.h>

enum {
    WINDOW_WORDS = 4096,
    PLACEHOLDER = 1,     /* the address of an empty stack: never code, and not the trailer's 0 */
    REMOVED_FRAMES = 2,  /* readers remove a shared second frame so many times */
    SHARED_FRACTION = 32 /* "nearly all" is all but one in 32 */
};

static const char maps_header[] = "\nMAPPED_LIBRARIES:\n";

typedef struct output {
    pprof_writer writer;
    uintptr_t *window;
    size_t used; /* words of the window */
    int error;   /* sticky */
} output;

static void write_bytes(output *out, const void *data, size_t size)
{
    if (out->error == 0 && size > 0) {
        out->error = out->writer.write(out->writer.ctx, data, size);
    }
}

static void flush_words(output *out)
{
    write_bytes(out, out->window, out->used * sizeof *out->window);
    out->used = 0;
}

static void put_word(output *out, uintptr_t word)
{
    if (out->used == WINDOW_WORDS) {
        flush_words(out);
    }
    out->window[out->used++] = word;
}

/* ---- the second frame ---- */

/* Returns the second frame that nearly all samples share; 0 = there is none. Boyer and Moore's
 * majority vote finds the frame that more than half of them share, if there is one. It is counted
 * then, because readers ask for more than a half. */
static uintptr_t shared_second_frame(const pp_profile *profile)
{
    uintptr_t winner = 0;
    size_t votes = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const pp_profile_sample *sample = &profile->samples[i];
        if (sample->depth < 2 || sample->value[0] == 0) {
            continue;
        }
        if (votes == 0) {
            winner = sample->pc[1];
        }
        votes = sample->pc[1] == winner ? votes + 1 : votes - 1;
    }
    size_t count = 0;
    size_t written = 0; /* samples that the reader will see */
    for (size_t i = 0; i < profile->sample_count; i++) {
        const pp_profile_sample *sample = &profile->samples[i];
        if (sample->value[0] == 0) {
            continue;
        }
        written++;
        count += sample->depth >= 2 && sample->pc[1] == winner;
    }
    return count > 0 && count >= written - written / SHARED_FRACTION ? winner : 0;
}

static void put_record(output *out, const pp_profile_sample *sample, uintptr_t shared)
{
    if (sample->value[0] == 0) { /* no time, no sample; 0 1 0 would even end the list */
        return;
    }
    uintptr_t leaf = sample->depth == 0 ? PLACEHOLDER : sample->pc[0] - (sample->pc[0] != 0);
    size_t copies = 0; /* of the second frame, in addition to the real one */
    if (sample->depth >= 2 && sample->pc[1] == shared) {
        copies += REMOVED_FRAMES;
    }
    if (sample->depth >= 2 && sample->pc[1] == leaf) {
        copies++;
    }

    put_word(out, (uintptr_t)sample->value[0]);
    put_word(out, sample->depth == 0 ? 1 : sample->depth + copies);
    put_word(out, leaf);
    for (size_t i = 0; i < copies; i++) {
        put_word(out, sample->pc[1]);
    }
    for (uint32_t i = 1; i < sample->depth; i++) {
        put_word(out, sample->pc[i]);
    }
}

/* ---- the file ---- */

int pp_legacy_cpu_encode(const pp_profile *profile, pp_arena *arena, pprof_writer writer)
{
    output out = {.writer = writer};
    const char *maps = NULL;
    size_t maps_length = 0;
    out.window = pp_arena_array(arena, WINDOW_WORDS, sizeof *out.window);
    if (out.window == NULL || pp_maps_text_if_any(arena, &maps, &maps_length) != 0) {
        return -ENOMEM;
    }

    uint64_t period_us = profile->period <= 0 ? 0 : ((uint64_t)profile->period + 500) / 1000;
    const uintptr_t header[] = {0, 3, 0, period_us == 0 ? 1 : period_us, 0};
    for (size_t i = 0; i < sizeof header / sizeof *header; i++) {
        put_word(&out, header[i]);
    }

    uintptr_t shared = shared_second_frame(profile);
    for (size_t i = 0; i < profile->sample_count && out.error == 0; i++) {
        put_record(&out, &profile->samples[i], shared);
    }

    put_word(&out, 0);
    put_word(&out, 1);
    put_word(&out, 0);
    flush_words(&out);
    if (maps_length > 0) {
        write_bytes(&out, maps_header, sizeof maps_header - 1);
        write_bytes(&out, maps, maps_length);
    }
    return out.error;
}
