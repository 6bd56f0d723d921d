/* SPDX-License-Identifier: MIT
 *
 * mappings.h: the executable mappings of a profile.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_MAPPINGS_H
#define PP_PROFILE_MAPPINGS_H

#include "base/arena.h"
#include "profile/model.h"

/* Fills them in. 0 or -ENOMEM; where /proc/self/maps cannot be read, the objects alone. */
int pp_profile_add_mappings(pp_arena *arena, pp_profile *profile);

#endif
