/* SPDX-License-Identifier: MIT
 *
 * wall_profile.h: builds the wall-clock profile: what runs, from the CPU sampler, and what waits.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_CPU_WALL_PROFILE_H
#define PP_KINDS_CPU_WALL_PROFILE_H

#include "base/arena.h"
#include "kinds/cpu/wall.h"
#include "profile/model.h"

/* Fills `profile` with nanoseconds in both values, so that two profiles can be subtracted. The
 * caller sets the time. counts->places and counts->cpu_before may be NULL. 0 or -ENOMEM. */
int pp_wall_profile_build(const pp_wall_counts *counts, bool with_labels, pp_arena *arena,
                          pp_profile *profile);

/* Turns the first value of each sample into a number of periods, at least one. 0 or -ENOMEM. */
int pp_wall_profile_count(pp_arena *arena, pp_profile *profile);

#endif
