/* SPDX-License-Identifier: MIT
 *
 * custom_profiles.h: the profiles that the program made, and what it adds to them and removes.
 *
 *   pprof_profile_add (stub) --> walk --> the stack's place in the trie --> the profile's table
 *
 * A program may keep a profile of what its allocator gives out, and may add to it inside of malloc:
 * so all of this stays within what hooks may do.
 *
 *   first -> [name, table] -> [name, table] -> ...      by name; entered by compare-and-swap
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

/* A profile of that name; NULL, and *error is -EEXIST or -ENOMEM. */
pprof_profile *pp_custom_profile_new(const char *name, int *error);

/* NULL if there is none. */
pprof_profile *pp_custom_profile_find(const char *name);

/* The first one by name; the others follow by `next`. NULL if there is none. */
pprof_profile *pp_custom_profiles_first(void);

/* In the child of fork. */
void pp_custom_profiles_after_fork_in_child(void);

#endif
