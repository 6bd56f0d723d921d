/* SPDX-License-Identifier: MIT
 *
 * text_rows.c: measures the columns of frames, and writes rows with them.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no locks).
 */
#include "encode/text_rows.h"

#include "base/text.h"
#include "modules/maps.h"

#include <errno.h>
#include <string.h>

enum { TAB = 8 };

/* A frame in text: 0x<address>, and <name>+0x<offset> if it has a name. An inlined function has the
 * address of the function that includes it, and the offset there. */
typedef struct frame {
    uintptr_t address;
    const char *name; /* NULL = unknown */
    const char *text; /* the demangled name */
    uintptr_t offset;
    const char *module;
    const pp_line *line; /* NULL = unknown */
} frame;

/* The next frame of a sample. */
typedef struct place {
    uint32_t pc;
    uint32_t inlined; /* the number of its functions that are done */
} place;

int pp_frame_lines_init(pp_frame_lines *frames, const pp_profile *profile, bool hide_allocators,
                        pp_arena *arena)
{
    *frames = (pp_frame_lines){.profile = profile, .hide_allocators = hide_allocators};
    pp_location_table_init(&frames->locations, arena);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const pp_profile_sample *sample = &profile->samples[i];
        for (uint32_t k = 0; k < sample->depth; k++) {
            pp_location_table_id(&frames->locations, sample->pc[k] - 1);
        }
    }
    if (frames->locations.failed) {
        return -ENOMEM;
    }
    int error = pp_location_names_find(profile, &frames->locations, arena, &frames->names);
    if (error == 0) {
        error = pp_location_names_demangle(&frames->names, frames->locations.count, arena);
    }
    if (error == 0) {
        error = pp_shown_frames_init(&frames->shown, profile, &frames->locations, &frames->names,
                                     arena);
    }
    return error;
}

/* Returns function number `inlined` at `pc`, the innermost being 0; *count is the number of
 * functions. */
static frame frame_of(pp_frame_lines *frames, uintptr_t pc, uint32_t inlined, uint32_t *count)
{
    frame f = {.address = pc - 1};
    uint32_t id = pp_location_table_id(&frames->locations, f.address);
    *count = 1;
    if (id == 0) {
        return f;
    }
    const pp_symbol *symbol = &frames->names.symbols[id - 1];
    const pp_lines *lines = &frames->names.lines[id - 1];
    uint32_t mapping = frames->locations.locations[id - 1].mapping;
    f.name = symbol->is_place ? NULL : symbol->name; /* Go shows only the address, too */
    f.text = symbol->is_place ? NULL : frames->names.demangled[id - 1];
    f.offset = f.address - symbol->entry;
    if (mapping > 0 && mapping <= frames->profile->mapping_count) {
        f.module = frames->profile->mappings[mapping - 1].path;
    }
    if (inlined < lines->count) {
        f.line = &lines->line[inlined];
        f.name = f.line->function;
        f.text = frames->names.demangled_lines[id - 1][inlined];
        *count = lines->count;
    }
    return f;
}

/* Returns the next frame before frame `end` in *f; false: there is none. */
static bool next_frame(pp_frame_lines *frames, const pp_profile_sample *sample, uint32_t end,
                       place *at, frame *f)
{
    uint32_t count = 0;
    if (at->pc >= end) {
        return false;
    }
    *f = frame_of(frames, sample->pc[at->pc], at->inlined, &count);
    if (++at->inlined >= count) {
        *at = (place){.pc = at->pc + 1};
    }
    return true;
}

/* ---- columns ---- */

static size_t hex_digits(uint64_t number)
{
    char digits[PP_HEX_BYTES];
    return strlen(pp_hex(number, digits));
}

/* The width in characters, not bytes. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static size_t address_width(const frame *f)
{
    return 2 + hex_digits(f->address);
}

static size_t name_width(const frame *f)
{
    return text_width(f->text) + 3 + hex_digits(f->offset);
}

/* Writes tabs from the end of a cell to the next column; at least one blank is between them. */
static void pad(pp_text_stream *out, size_t cell, size_t widest)
{
    size_t column = (widest + 1 + TAB - 1) / TAB * TAB;
    for (; cell < column; cell = (cell / TAB + 1) * TAB) {
        pp_text_stream_add(out, "\t");
    }
}

/* Measures the columns of a block: the lines from frame `f`, which precedes `at`, as long as the
 * frames have a name. */
static void measure_block(pp_frame_lines *frames, const pp_profile_sample *sample, uint32_t end,
                          frame f, place at, size_t *address, size_t *name)
{
    bool more = true;
    *address = *name = 0;
    for (; more && f.name != NULL; more = next_frame(frames, sample, end, &at, &f)) {
        size_t widths[] = {address_width(&f), name_width(&f)};
        *address = widths[0] > *address ? widths[0] : *address;
        *name = widths[1] > *name ? widths[1] : *name;
    }
}

/* Writes file:line, or the module if the line is unknown. */
static void write_origin(const frame *f, pp_text_stream *out)
{
    if (f->line == NULL) {
        pp_text_stream_add(out, f->module != NULL ? f->module : "");
        return;
    }
    pp_text_stream_add(out, f->line->file);
    pp_text_stream_add(out, ":");
    pp_text_stream_unsigned(out, f->line->line);
}

static void write_named(const frame *f, size_t widest_address, size_t widest_name,
                        pp_text_stream *out)
{
    pp_text_stream_hex(out, f->address);
    pad(out, address_width(f), widest_address);
    pp_text_stream_add(out, f->text);
    pp_text_stream_add(out, "+");
    pp_text_stream_hex(out, f->offset);
    pad(out, name_width(f), widest_name);
    write_origin(f, out);
}

void pp_frame_lines_write(pp_frame_lines *frames, const pp_profile_sample *sample,
                          pp_text_stream *out)
{
    const pp_frame_range range =
        pp_shown_frames_of(&frames->shown, sample, frames->hide_allocators);
    size_t widest_address = 0;
    size_t widest_name = 0;
    bool in_block = false;
    place at = {range.first, range.inlined};
    frame f;
    while (next_frame(frames, sample, range.end, &at, &f)) {
        pp_text_stream_add(out, "#\t");
        if (f.name == NULL) {
            pp_text_stream_hex(out, f.address);
        } else {
            if (!in_block) {
                measure_block(frames, sample, range.end, f, at, &widest_address, &widest_name);
            }
            write_named(&f, widest_address, widest_name, out);
        }
        in_block = f.name != NULL;
        pp_text_stream_add(out, "\n");
    }
    pp_text_stream_add(out, sample->depth == 0 ? "#\t0x0\n\n" : "\n");
}

int pp_text_rows_write(pp_text_stream *out, const pp_profile *profile, pp_text_row *row, bool bare,
                       bool hide_allocators, pp_arena *arena)
{
    pp_frame_lines frames;
    int error = bare ? 0 : pp_frame_lines_init(&frames, profile, hide_allocators, arena);
    for (size_t i = 0; error == 0 && out->error == 0 && i < profile->sample_count; i++) {
        row(out, &profile->samples[i]);
        if (!bare) {
            pp_frame_lines_write(&frames, &profile->samples[i], out);
        }
    }
    return error;
}

int pp_text_rows_and_maps_finish(pp_text_stream *out, const pp_profile *profile, pp_text_row *row,
                                 bool bare, bool hide_allocators, pp_arena *arena)
{
    const char *maps = NULL;
    size_t maps_length = 0;
    int maps_error = pp_maps_text_if_any(arena, &maps, &maps_length);
    int error = pp_text_rows_write(out, profile, row, bare, hide_allocators, arena);
    if (error != 0) {
        pp_text_stream_fail(out, error);
    }
    pp_text_stream_add(out, "\n--- Memory map: ---\n");
    if (maps_error == 0) {
        pp_text_stream_bytes(out, maps, maps_length);
    }
    int write_error = pp_text_stream_finish(out);
    return write_error != 0 ? write_error : maps_error;
}
