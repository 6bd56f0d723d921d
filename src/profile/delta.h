/* SPDX-License-Identifier: MIT
 *
 * delta.h: the difference of two snapshots of the same profile [net/http/pprof serveDeltaProfile].
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_DELTA_H
#define PP_PROFILE_DELTA_H

#include "base/arena.h"
#include "profile/model.h"

/*
 * Subtracts the values of `before` from those of the samples in `profile` that have the same stack
 * and labels. What only `before` has becomes a sample with negative values. Equal samples of one
 * profile are added up, those without a value dropped, and the rest is sorted again: by the type that
 * is shown first, descending. Both profiles have the same types. What `before` points to must stay
 * until `profile` has been encoded. 0 or -ENOMEM.
 */
int pp_profile_subtract(pp_profile *profile, const pp_profile *before, pp_arena *arena);

/* Copies the samples with their stacks and labels: all that a later pp_profile_subtract() needs of
 * `before`, and the rest of the profile as it is. `copy` may be `profile`. 0 or -ENOMEM. */
int pp_profile_copy_samples(const pp_profile *profile, pp_arena *arena, pp_profile *copy);

#endif
