/* SPDX-License-Identifier: MIT
 *
 * location_selection.c: checks the guess, and assigns ids if it was wrong.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no locks).
 * Tested by: unit.proto
 */
#include "encode/location_selection.h"

#include <errno.h>

static uint32_t number_of(pp_location_table *locations, uintptr_t pc)
{
    return pp_location_table_id(locations, pc == 0 ? 0 : pc - 1);
}

void pp_location_selection_begin(pp_location_selection *selection, const pp_profile *profile,
                                 pp_location_table *locations)
{
    selection->count = locations->count;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const pp_profile_sample *sample = &profile->samples[i];
        uint32_t hooks = pp_shown_frames_guess(sample);
        for (uint32_t k = 0; k < hooks; k++) {
            number_of(locations, sample->pc[k]);
        }
    }
}

static bool is_right(const pp_shown_frames *shown, const pp_profile *profile)
{
    for (size_t i = 0; i < profile->sample_count; i++) {
        const pp_profile_sample *sample = &profile->samples[i];
        const pp_frame_range range = pp_shown_frames_and_root(shown, sample);
        if (range.first != pp_shown_frames_guess(sample) || range.inlined != 0) {
            return false;
        }
    }
    return true;
}

int pp_location_selection_decide(pp_location_selection *selection, const pp_profile *profile,
                                 pp_location_table *locations, const pp_location_names *names,
                                 pp_arena *arena)
{
    pp_location_selection *s = selection;
    if (pp_shown_frames_init(&s->shown, profile, locations, names, arena) != 0) {
        return -ENOMEM;
    }
    if (is_right(&s->shown, profile)) {
        return 0;
    }
    s->count = 0;
    s->id = pp_arena_array(arena, locations->count, sizeof *s->id);
    s->index = pp_arena_array(arena, locations->count, sizeof *s->index);
    s->inlined = pp_arena_array(arena, locations->count, sizeof *s->inlined);
    return s->id != NULL && s->index != NULL && s->inlined != NULL ? 0 : -ENOMEM;
}

uint32_t pp_location_selection_first(pp_location_selection *selection,
                                     const pp_profile_sample *sample)
{
    const pp_frame_range range = pp_shown_frames_and_root(&selection->shown, sample);
    if (range.inlined > 0) {
        uint32_t number = number_of(selection->shown.locations, sample->pc[range.first]);
        selection->inlined[number - 1] = range.inlined;
    }
    return range.first;
}
