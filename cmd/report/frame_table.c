/* SPDX-License-Identifier: MIT
 *
 * frame_table.c: see frame_table.h.
 *
 * Owns: the arrays of the table, and two indices while the table is built.
 * Tested by: unit.cmd_report.
 */
#include "report/frame_table.h"

#include "base/base_name.h"
#include "base/index_table.h"

#include <stdlib.h>
#include <string.h>

#define NO_FRAME UINT32_MAX

typedef struct frame_builder {
    cp_frames *frames;
    uint32_t capacity;
    uint32_t *of_name; /* per string: the frame with that name */
    cp_index_table nameless;
} frame_builder;

static uint32_t append_frame(frame_builder *builder, const cp_frame *frame)
{
    cp_frames *frames = builder->frames;

    if (frames->count == builder->capacity) {
        builder->capacity *= 2;
        frames->frames = cp_heap_resize(frames->frames, builder->capacity, sizeof *frames->frames);
    }
    frames->frames[frames->count] = *frame;
    return frames->count++;
}

static void label_nameless(cp_frames *frames, cp_frame *frame)
{
    const char *file = cp_profile_text(frames->profile, frame->program);
    size_t length;
    const char *base = cp_base_name(file, &length);

    frame->label = "<unknown>";
    if (frame->program) { /* not "", but it may begin with a NUL */
        frame->label = length ? cp_pool_printf(&frames->pool, "[%.*s]", (int)length, base) : "[/]";
    }
    frame->label_length = strlen(frame->label);
}

static uint32_t nameless_frame(frame_builder *builder, cp_string program, int64_t start_line)
{
    const uint64_t key[] = {program, (uint64_t)start_line};
    uint64_t hash = cp_hash_bytes(key, sizeof key, 0);
    uint64_t at = hash;
    uint32_t index;

    while (cp_index_next(&builder->nameless, hash, &at, &index)) {
        const cp_frame *known = &builder->frames->frames[index];
        if (known->program == program && known->start_line == start_line) {
            return index;
        }
    }
    cp_frame frame = {.program = program, .start_line = start_line};
    label_nameless(builder->frames, &frame);
    index = append_frame(builder, &frame);
    cp_index_add(&builder->nameless, hash, index);
    return index;
}

static uint32_t named_frame(frame_builder *builder, cp_string name)
{
    const cp_strings *strings = &builder->frames->profile->strings;
    uint32_t *known = &builder->of_name[name];
    cp_frame frame = {.name = name,
                      .label = cp_strings_get(strings, name),
                      .label_length = cp_strings_length(strings, name)};

    if (*known == NO_FRAME) {
        *known = append_frame(builder, &frame);
    }
    return *known;
}

static uint32_t frame_of_line(frame_builder *builder, const cp_location *location, uint32_t line)
{
    const cp_profile *profile = builder->frames->profile;
    cp_string program = 0;

    if (location->mapping != CP_NO_MAPPING) {
        program = profile->mappings[location->mapping].file;
    }
    if (line < location->line_count) {
        const cp_function *function = &profile->functions[location->lines[line].function];
        if (function->name) {
            return named_frame(builder, function->name);
        }
        return nameless_frame(builder, program, function->start_line);
    }
    return nameless_frame(builder, program, 0);
}

static void add_locations(frame_builder *builder)
{
    cp_frames *frames = builder->frames;
    const cp_profile *profile = frames->profile;
    uint32_t at = 0;

    for (uint32_t i = 0; i < profile->location_count; i++) {
        const cp_location *location = &profile->locations[i];
        uint32_t lines = location->line_count ? location->line_count : 1;

        frames->first_of[i] = at;
        for (uint32_t line = 0; line < lines; line++) {
            frames->of_line[at++] = frame_of_line(builder, location, line);
        }
    }
    frames->first_of[profile->location_count] = at;
}

void cp_frames_init(cp_frames *frames, const cp_profile *profile)
{
    frame_builder builder = {.frames = frames, .capacity = 256};
    size_t lines = 0;

    memset(frames, 0, sizeof *frames);
    frames->profile = profile;
    cp_pool_init(&frames->pool);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        lines += profile->locations[i].line_count ? profile->locations[i].line_count : 1;
    }
    frames->of_line = cp_heap_alloc(lines, sizeof *frames->of_line);
    frames->first_of = cp_heap_alloc((size_t)profile->location_count + 1, sizeof *frames->first_of);
    frames->frames = cp_heap_alloc(builder.capacity, sizeof *frames->frames);
    builder.of_name = cp_heap_alloc(profile->strings.count, sizeof *builder.of_name);
    memset(builder.of_name, 0xff, profile->strings.count * sizeof *builder.of_name);
    cp_index_init(&builder.nameless, 64);
    add_locations(&builder);
    free(builder.of_name);
    cp_index_release(&builder.nameless);
}

void cp_frames_release(cp_frames *frames)
{
    free(frames->frames);
    free(frames->of_line);
    free(frames->first_of);
    cp_pool_release(&frames->pool);
    memset(frames, 0, sizeof *frames);
}

bool cp_frames_have_inlined(const cp_frames *frames)
{
    for (uint32_t i = 0; i < frames->profile->location_count; i++) {
        if (frames->profile->locations[i].line_count > 1) {
            return true;
        }
    }
    return false;
}
