/* SPDX-License-Identifier: MIT
 *
 * frame_comments.c: which frames are shown, and how wide their columns are; rows with them.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no locks).
 * Locks: none.
 * Owns: nothing.
 */
#include "encode/frame_comments.h"

#include "base/text.h"
#include "symbol/hidden.h"
#include "sys/maps.h"

#include <errno.h>
#include <string.h>

enum { TAB = 8 };

/* A frame in text: 0x<address>, and <name>+0x<offset> if it has a name. */
typedef struct frame {
    uintptr_t address;
    const char *name; /* NULL = unknown */
    const char *text; /* the name for a reader */
    uintptr_t offset;
    const char *module;
} frame;

int pp_frame_comments_init(pp_frame_comments *comments, const pp_profile *profile,
                           bool hide_allocators, pp_arena *arena)
{
    *comments = (pp_frame_comments){.profile = profile, .hide_allocators = hide_allocators};
    pp_location_table_init(&comments->locations, arena);
    for (size_t i = 0; i < profile->sample_count; i++) {
        const pp_profile_sample *sample = &profile->samples[i];
        for (uint32_t k = 0; k < sample->depth; k++)
            pp_location_table_id(&comments->locations, sample->pc[k] - 1);
    }
    if (comments->locations.failed)
        return -ENOMEM;
    int error = pp_location_names_find(profile, &comments->locations, arena, &comments->names);
    return error != 0 ? error
                      : pp_location_names_make_readable(&comments->names, comments->locations.count,
                                                        arena);
}

static frame frame_of(pp_frame_comments *comments, uintptr_t pc)
{
    frame f = {.address = pc - 1};
    uint32_t id = pp_location_table_id(&comments->locations, f.address);
    if (id == 0)
        return f;
    const pp_symbol *symbol = &comments->names.symbols[id - 1];
    uint32_t mapping = comments->locations.locations[id - 1].mapping;
    f.name = symbol->is_place ? NULL : symbol->name; /* Go shows an address alone, too */
    f.text = symbol->is_place ? NULL : comments->names.readable[id - 1];
    f.offset = f.address - symbol->entry;
    if (mapping > 0 && mapping <= comments->profile->mapping_count)
        f.module = comments->profile->mappings[mapping - 1].path;
    return f;
}

/* ---- which ---- */

typedef enum frame_pass { SOME, ALL } frame_pass;

/* Whether frame number `index` is to be shown; *begun says whether one before it was. */
static bool is_shown(const pp_frame_comments *comments, const frame *f, frame_pass pass,
                     bool *begun)
{
    if (pass == SOME && f->name != NULL) {
        if (pp_symbol_is_thread_root(f->name))
            return false;
        if (!*begun && comments->hide_allocators && pp_symbol_is_allocator(f->name))
            return false;
    }
    *begun = true;
    return true;
}

static frame_pass choose_pass(pp_frame_comments *comments, const pp_profile_sample *sample)
{
    bool begun = false;
    for (uint32_t i = 0; i < sample->depth && !begun; i++) {
        frame f = frame_of(comments, sample->pc[i]);
        is_shown(comments, &f, SOME, &begun);
    }
    return begun ? SOME : ALL;
}

/* ---- columns ---- */

static size_t hex_digits(uint64_t number)
{
    char digits[PP_HEX_BYTES];
    return strlen(pp_hex(number, digits));
}

/* In characters, not bytes. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
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

/* Tabs from the end of a cell to the next column: at least one blank stands between them. */
static void pad(pp_text_stream *out, size_t cell, size_t widest)
{
    size_t column = (widest + 1 + TAB - 1) / TAB * TAB;
    for (; cell < column; cell = (cell / TAB + 1) * TAB)
        pp_text_stream_add(out, "\t");
}

/* The lines from `first` on whose frames have a name share their columns. */
static void measure_block(pp_frame_comments *comments, const pp_profile_sample *sample,
                          uint32_t first, frame_pass pass, size_t *address, size_t *name)
{
    bool begun = true;
    *address = *name = 0;
    for (uint32_t i = first; i < sample->depth; i++) {
        frame f = frame_of(comments, sample->pc[i]);
        if (!is_shown(comments, &f, pass, &begun))
            continue;
        if (f.name == NULL)
            break;
        size_t widths[] = {address_width(&f), name_width(&f)};
        *address = widths[0] > *address ? widths[0] : *address;
        *name = widths[1] > *name ? widths[1] : *name;
    }
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
    pp_text_stream_add(out, f->module != NULL ? f->module : "");
}

void pp_frame_comments_write(pp_frame_comments *comments, const pp_profile_sample *sample,
                             pp_text_stream *out)
{
    frame_pass pass = choose_pass(comments, sample);
    size_t widest_address = 0;
    size_t widest_name = 0;
    bool in_block = false;
    bool begun = false;
    for (uint32_t i = 0; i < sample->depth; i++) {
        frame f = frame_of(comments, sample->pc[i]);
        if (!is_shown(comments, &f, pass, &begun))
            continue;
        pp_text_stream_add(out, "#\t");
        if (f.name == NULL) {
            pp_text_stream_hex(out, f.address);
        } else {
            if (!in_block)
                measure_block(comments, sample, i, pass, &widest_address, &widest_name);
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
    pp_frame_comments comments;
    int error = bare ? 0 : pp_frame_comments_init(&comments, profile, hide_allocators, arena);
    for (size_t i = 0; error == 0 && out->error == 0 && i < profile->sample_count; i++) {
        row(out, &profile->samples[i]);
        if (!bare)
            pp_frame_comments_write(&comments, &profile->samples[i], out);
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
    if (error != 0)
        pp_text_stream_fail(out, error);
    pp_text_stream_add(out, "\n--- Memory map: ---\n");
    if (maps_error == 0)
        pp_text_stream_bytes(out, maps, maps_length);
    int write_error = pp_text_stream_finish(out);
    return write_error != 0 ? write_error : maps_error;
}
