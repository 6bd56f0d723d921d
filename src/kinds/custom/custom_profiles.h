/* SPDX-License-Identifier: MIT
 *
 * custom_profiles.h: the profiles that the program has made, and their values.
 *
 *   pprof_profile_add (stub) --> walk --> the stack's place in the trie --> the profile's table
 *
 * A program may keep a profile of the blocks of its own allocator, and may add values inside
 * malloc: so these functions only do what hooks may do.
 *
 *   first -> [name, table] -> [name, table] -> ...      by name; linked by compare-and-swap
 *
 * Zone: HOOK.
 * Locks: those of the tables (store/value_table.h).
 * Owns: the profiles, for ever.
 */
#ifndef PP_KINDS_CUSTOM_CUSTOM_PROFILES_H
#define PP_KINDS_CUSTOM_CUSTOM_PROFILES_H

#include "host/kind.h"
#include "store/value_table.h"

#include "pprof.h"

#include <stdbool.h>

/* Makes a profile of that name. On failure the result is NULL, and *error is -EEXIST or -ENOMEM. */
pprof_profile *pp_custom_profile_new(const char *name, int *error);

/* Returns the first profile by name; the others follow by `next`. NULL if there is none. */
pprof_profile *pp_custom_profiles_first(void);

void pp_custom_profiles_after_fork_in_child(void);

#endif
