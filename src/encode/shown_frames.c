/* SPDX-License-Identifier: MIT
 *
 * shown_frames.c: removes frames at both ends of a stack.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no locks).
 * Tested by: unit.proto, unit.text_rows
 */
#include "encode/shown_frames.h"

#include "symbol/omitted_functions.h"

#include <errno.h>

enum { ROOT_FRAMES = 2 };
static const uint32_t ALL_OF_IT = UINT32_MAX; /* all functions at a location */

int pp_shown_frames_init(pp_shown_frames *shown, const pp_profile *profile,
                         pp_location_table *locations, const pp_location_names *names,
                         pp_arena *arena)
{
    *shown = (pp_shown_frames){.profile = profile, .locations = locations, .names = names};
    shown->left_out = pp_arena_array(arena, locations->count, sizeof *shown->left_out);
    return shown->left_out != NULL ? 0 : -ENOMEM;
}

/* Returns the id of a frame's location; 0 = no such frame. */
static uint32_t location_of(const pp_shown_frames *shown, uintptr_t pc)
{
    return pc != 0 ? pp_location_table_id(shown->locations, pc - 1) : 0;
}

/* Returns NULL for code outside of the list. */
static const pp_mapping *mapping_of(const pp_shown_frames *shown, uint32_t id)
{
    uint32_t mapping = id > 0 ? shown->locations->locations[id - 1].mapping : 0;
    if (mapping == 0 || mapping > shown->profile->mapping_count) {
        return NULL;
    }
    return &shown->profile->mappings[mapping - 1];
}

/* ---- the leaf ---- */

static bool is_in_allocator(const pp_shown_frames *shown, uint32_t id)
{
    const pp_mapping *mapping = mapping_of(shown, id);
    return mapping != NULL && mapping->path != NULL && pp_file_is_allocator(mapping->path);
}

/* An inlined function is always local to its module. */
static uint32_t count_allocators(const pp_symbol *symbol, const pp_lines *lines)
{
    uint32_t count = 0;
    for (; count < lines->count; count++) {
        bool is_local = count + 1 < lines->count || symbol->is_local;
        const char *name = lines->line[count].function;
        if (name == NULL || !pp_symbol_is_allocator(name, is_local)) {
            return count;
        }
    }
    bool known = symbol->name != NULL && !symbol->is_place;
    return known && pp_symbol_is_allocator(symbol->name, symbol->is_local) ? ALL_OF_IT : 0;
}

/* Returns how many functions at a leaf location, innermost first, are left out. */
static uint32_t left_out_at(const pp_shown_frames *shown, uint32_t id)
{
    uint32_t *known = &shown->left_out[id - 1];
    if (*known == 0) {
        uint32_t count =
            is_in_allocator(shown, id)
                ? ALL_OF_IT
                : count_allocators(&shown->names->symbols[id - 1], &shown->names->lines[id - 1]);
        *known = count == ALL_OF_IT ? ALL_OF_IT : count + 1;
    }
    return *known == ALL_OF_IT ? ALL_OF_IT : *known - 1;
}

static void leave_out_allocator(const pp_shown_frames *shown, const pp_profile_sample *sample,
                                pp_frame_range *range)
{
    for (; range->first < range->end; range->first++) {
        uintptr_t pc = sample->pc[range->first];
        if (pp_code_is_allocator(pc - 1)) {
            continue;
        }
        uint32_t id = location_of(shown, pc);
        range->inlined = id > 0 ? left_out_at(shown, id) : 0;
        if (range->inlined != ALL_OF_IT) {
            return;
        }
    }
}

/* ---- the root ---- */

/* Returns the kind of the outermost of `depth` frames; `unnamed` if the frame is in libc and
 * nameless, as these functions are in a stripped libc. */
static pp_thread_root root_of(const pp_shown_frames *shown, const pp_profile_sample *sample,
                              uint32_t depth, pp_thread_root unnamed)
{
    uint32_t id = depth > 0 ? location_of(shown, sample->pc[depth - 1]) : 0;
    const pp_mapping *mapping = mapping_of(shown, id);
    if (mapping == NULL) {
        return PP_ROOT_NONE;
    }
    const pp_symbol *symbol = &shown->names->symbols[id - 1];
    if (symbol->name == NULL || symbol->is_place) {
        return (mapping->code_of & PP_CODE_OF_LIBC) != 0 ? unnamed : PP_ROOT_NONE;
    }
    return pp_symbol_thread_root(symbol->name, mapping->code_of);
}

/* Returns the number of frames without those that began the thread. */
static uint32_t depth_without_root(const pp_shown_frames *shown, const pp_profile_sample *sample)
{
    uint32_t depth = sample->depth;
    pp_thread_root root = root_of(shown, sample, depth, PP_ROOT_CLONE);
    if (root != PP_ROOT_NONE) {
        depth--;
    }
    if (root == PP_ROOT_CLONE && root_of(shown, sample, depth, PP_ROOT_THREAD) == PP_ROOT_THREAD) {
        depth--;
    }
    return depth;
}

static pp_frame_range whole(const pp_profile_sample *sample)
{
    return (pp_frame_range){.end = sample->depth};
}

pp_frame_range pp_shown_frames_of(const pp_shown_frames *shown, const pp_profile_sample *sample,
                                  bool hide_allocators)
{
    pp_frame_range range = {.end = depth_without_root(shown, sample)};
    if (hide_allocators) {
        leave_out_allocator(shown, sample, &range);
    }
    return range.first < range.end ? range : whole(sample);
}

pp_frame_range pp_shown_frames_and_root(const pp_shown_frames *shown,
                                        const pp_profile_sample *sample)
{
    pp_frame_range range = whole(sample);
    leave_out_allocator(shown, sample, &range);
    bool may_be_root = range.end - range.first <= ROOT_FRAMES;
    return may_be_root && range.first >= depth_without_root(shown, sample) ? whole(sample) : range;
}

uint32_t pp_shown_frames_guess(const pp_profile_sample *sample)
{
    uint32_t count = 0;
    while (count < sample->depth && pp_code_is_allocator(sample->pc[count] - 1)) {
        count++;
    }
    return sample->depth - count > ROOT_FRAMES ? count : 0;
}
