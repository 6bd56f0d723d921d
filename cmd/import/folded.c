/* SPDX-License-Identifier: MIT
 *
 * folded.c: reads folded stacks: one line for each stack, from the root to the leaf.
 *
 *   main;work;malloc 17            of flamegraph.pl's stackcollapse-*, inferno, async-profiler
 *   main (app.py:3);work (app.py:9) 17     of py-spy: with the file and the line
 *
 * The number is the last word of the line, and whole. Empty lines count for nothing. The only sample
 * type is samples/count.
 *
 * Owns: the profile, until it is whole.
 * Tested by: unit.cmd_folded, e2e.cpprof_convert, fuzz.folded.
 */
#include "import/formats.h"

#include "base/message.h"
#include "import/named_frames.h"
#include "import/text_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first line is looked for in so many bytes. */
#define SNIFFED ((size_t)1 << 20)

#define EXPECTED "FRAME;FRAME;... COUNT"

/* Finds the number at the end of a line, and the length of the stack before it. */
static bool split(const char *line, size_t length, size_t *stack, int64_t *count)
{
    size_t digits = length;

    while (digits > 0 && isdigit((unsigned char)line[digits - 1])) {
        digits--;
    }
    if (digits == length || digits < 2 || !isblank((unsigned char)line[digits - 1])) {
        return false;
    }
    errno = 0;
    *count = strtoll(line + digits, NULL, 10);
    for (digits--; digits > 0 && isblank((unsigned char)line[digits - 1]);) {
        digits--;
    }
    *stack = digits;
    return errno == 0 && digits > 0;
}

static bool has_control(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (iscntrl((unsigned char)line[i]) && line[i] != '\t') {
            return true;
        }
    }
    return false;
}

static bool recognize(const uint8_t *data, size_t length)
{
    cp_lines lines;
    size_t stack;
    int64_t count;

    cp_lines_init(&lines, data, length);
    if (length > SNIFFED) {
        const uint8_t *newline = memchr(data + SNIFFED, '\n', length - SNIFFED);
        cp_lines_init(&lines, data, newline ? (size_t)(newline - data) : length);
    }
    bool found = cp_lines_next_text(&lines) && !has_control(lines.line, lines.length) &&
                 split(lines.line, lines.length, &stack, &count);
    cp_lines_release(&lines);
    return found;
}

int cp_folded_refuse(const uint8_t *data, size_t length, cp_error *error)
{
    cp_lines lines;

    cp_lines_init(&lines, data, length < SNIFFED ? length : SNIFFED);
    cp_lines_next_text(&lines);
    int status = cp_fail(error,
                         "byte %zu: expected a profile (profile.proto, gzipped or plain), found "
                         "text whose line %zu is no folded stack (" EXPECTED "): '%.60s'",
                         lines.offset, lines.number, lines.line ? lines.line : "");
    cp_lines_release(&lines);
    return status;
}

/* ---- frames ---- */

/* Splits "NAME (FILE:LINE)". Returns the length of the name, or 0 if the frame is only a name. */
static size_t split_place(const char *frame, size_t length, size_t *file_length, int64_t *line)
{
    size_t at = length - 1, colon;

    if (length < 6 || frame[at] != ')') {
        return 0;
    }
    while (at > 0 && isdigit((unsigned char)frame[at - 1])) {
        at--;
    }
    colon = at - 1;
    if (at == length - 1 || length - 1 - at > 9 || at < 4 || frame[colon] != ':') {
        return 0;
    }
    while (at > 0 && frame[at - 1] != '(' && frame[at - 1] != ')') {
        at--;
    }
    if (at < 3 || frame[at - 1] != '(' || frame[at - 2] != ' ' || at == colon) {
        return 0;
    }
    *file_length = colon - at;
    *line = strtoll(frame + colon + 1, NULL, 10);
    return at - 2;
}

static uint32_t add_frame(cp_named *named, const char *frame, size_t length)
{
    cp_strings *strings = &named->profile->strings;
    size_t file_length;
    cp_line line = {0};
    size_t name_length = split_place(frame, length, &file_length, &line.line);

    if (!name_length) {
        return cp_named_frame(named, cp_strings_add(strings, frame, length));
    }
    line.function =
        cp_named_function(named, cp_strings_add(strings, frame, name_length),
                          cp_strings_add(strings, frame + name_length + 2, file_length));
    const cp_location wanted = {.lines = &line, .line_count = 1, .mapping = CP_NO_MAPPING};
    return cp_named_location(named, &wanted);
}

static size_t count_frames(const char *stack, size_t length)
{
    size_t frames = 1;

    for (size_t i = 0; i < length; i++) {
        frames += stack[i] == ';';
    }
    return frames;
}

/* Fills the stack from its end: the last frame of the line is the leaf. Empty frames, as before a
 * semicolon at the beginning, are left out. */
static void add_stack(cp_named *named, const char *stack, size_t length, int64_t count)
{
    const char *end = stack + length;
    size_t frames = count_frames(stack, length), at = frames;
    cp_sample *sample = cp_named_sample(named, frames);

    while (stack < end) {
        const char *semicolon = memchr(stack, ';', (size_t)(end - stack));
        const char *frame_end = semicolon ? semicolon : end;

        if (frame_end > stack) {
            sample->locations[--at] = add_frame(named, stack, (size_t)(frame_end - stack));
        }
        stack = frame_end + 1;
    }
    sample->locations += at;
    sample->location_count = (uint32_t)(frames - at);
    sample->values[0] = count;
}

static int read_lines(cp_named *named, cp_lines *lines, cp_error *error)
{
    while (cp_lines_next_text(lines)) {
        size_t stack;
        int64_t count;

        if (!split(lines->line, lines->length, &stack, &count)) {
            return cp_lines_fail(lines, EXPECTED, error);
        }
        add_stack(named, lines->line, stack, count);
    }
    return 0;
}

static int decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    cp_profile *profile = cp_profile_new();
    cp_named named;
    cp_lines lines;

    cp_named_init(&named, profile);
    named.names_are_final = true;
    cp_lines_init(&lines, data, length);
    cp_named_types(&named, 1);
    cp_profile_add_type(named.profile, "samples", "count");
    int status = read_lines(&named, &lines, error);
    cp_lines_release(&lines);
    cp_named_release(&named);
    if (status < 0) {
        cp_profile_free(profile);
        return -1;
    }
    *out = profile;
    return 0;
}

const cp_format cp_folded = {recognize, decode};
