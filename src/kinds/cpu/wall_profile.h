/* SPDX-License-Identifier: MIT
 *
 * wall_profile.h: builds the wall-clock profile: what runs, from the CPU sampler, and what waits.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_CPU_WALL_PROFILE_H
#define PP_KINDS_CPU_WALL_PROFILE_H

#include "base/arena.h"
#include "kinds/cpu/cpu.h"
#include "kinds/cpu/wall_accounts.h"
#include "profile/model.h"

#include <stdbool.h>
#include <stdint.h>

/* What has been counted since the first user joined. */
typedef struct pp_wall_counts {
    bool is_first;            /* the look is for the first user, which joins */
    const pp_cpu_result *cpu; /* NULL: the CPU profile has ended before */
    /* What that profile had counted before it served: with labels, and without. */
    const pp_profile *cpu_before;
    const pp_wall_places *places;
    int64_t period_ns;
    int64_t time_ns;   /* wall clock: when the first user joined */
    uint64_t start_ns; /* the same, monotonic */
    uint64_t now_ns;   /* monotonic: until when was counted */
    uint64_t looks;
    uint64_t placeless; /* sights of a wait of which the kernel does not say where */
} pp_wall_counts;

/* Fills `profile` with nanoseconds in both values, so that two profiles can be subtracted. The
 * caller sets the time. counts->places and counts->cpu_before may be NULL. 0 or -ENOMEM. */
int pp_wall_profile_build(const pp_wall_counts *counts, bool with_labels, pp_arena *arena,
                          pp_profile *profile);

/* Turns the first value of each sample into a number of periods, at least one. 0 or -ENOMEM. */
int pp_wall_profile_count(pp_arena *arena, pp_profile *profile);

#endif
