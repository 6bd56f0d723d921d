/* SPDX-License-Identifier: MIT
 *
 * mappings.h: gives a profile its executable mappings.
 *
 * The kernel takes 8 us to print the mappings of a library, and 3 us for the stack of a thread. So a
 * profile whose addresses are all in loaded objects has the mappings of these objects only, and the
 * kernel is not asked.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_MAPPINGS_H
#define PP_PROFILE_MAPPINGS_H

#include "base/arena.h"
#include "profile/model.h"

/* Sets the mappings of the profile: those of all loaded objects, and if one of its samples may be in
 * other code, those of other code. 0 or -ENOMEM; if /proc/self/maps cannot be read, only the loaded
 * objects. */
int pp_profile_add_mappings(pp_arena *arena, pp_profile *profile);

/* Sets all mappings, for a profile that gets its samples later. Likewise. */
int pp_profile_add_all_mappings(pp_arena *arena, pp_profile *profile);

#endif
