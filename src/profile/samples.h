/* SPDX-License-Identifier: MIT
 *
 * samples.h: the samples of a profile, gathered and put into the order that every reader gets: by a
 * value, descending, ties by stack, then by labels.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_SAMPLES_H
#define PP_PROFILE_SAMPLES_H

#include "base/arena.h"
#include "profile/model.h"

#include <stddef.h>

typedef struct pp_samples {
    pp_profile_sample *list;
    size_t count, capacity;
} pp_samples;

/* Room for so many. 0 or -ENOMEM. */
int pp_samples_init(pp_samples *samples, size_t capacity, pp_arena *arena);

/* Beyond the capacity: nothing happens (hooks may have added stacks since they were counted). */
void pp_samples_add(pp_samples *samples, const pp_profile_sample *sample);

/* Sorts them by value[by] and gives them to the profile. 0 or -ENOMEM. */
int pp_samples_give(const pp_samples *samples, unsigned by, pp_arena *arena, pp_profile *profile);

#endif
