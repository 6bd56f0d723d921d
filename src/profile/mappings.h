/* SPDX-License-Identifier: MIT
 *
 * mappings.h: gives a profile its executable mappings.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_MAPPINGS_H
#define PP_PROFILE_MAPPINGS_H

#include "base/arena.h"
#include "profile/model.h"

/* Sets the mappings of the profile. 0 or -ENOMEM; if /proc/self/maps cannot be read, only the
 * loaded objects. */
int pp_profile_add_mappings(pp_arena *arena, pp_profile *profile);

#endif
