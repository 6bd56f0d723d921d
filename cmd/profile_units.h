/* SPDX-License-Identifier: MIT
 *
 * profile_units.h: multiplying the values of profiles, and giving several profiles the same units.
 */
#ifndef CPPROF_PROFILE_UNITS_H
#define CPPROF_PROFILE_UNITS_H

#include <stddef.h>

struct pp_error;
struct pp_profile;

/* Brings the values of each sample type to the finest unit among the profiles. Returns 0, or -1
 * with a sentence if a type differs. */
int pp_profile_align_units(struct pp_profile *const *profiles, size_t count,
                           struct pp_error *error);

/* Multiplies the values of each sample type by its ratio, rounding; drops samples that this makes
 * zero. */
void pp_profile_scale(struct pp_profile *profile, const double *ratios);

#endif
