/* SPDX-License-Identifier: MIT
 *
 * lifetime_profile.h: the profile "lifetime": blocks that were freed, by the stacks that allocated
 * and that freed them, and by how long they lived; estimates of all such blocks.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_HEAP_LIFETIME_PROFILE_H
#define PP_KINDS_HEAP_LIFETIME_PROFILE_H

#include "base/arena.h"
#include "profile/model.h"

#include "pprof.h"

#include <stddef.h>

/* Fills in the profile. The first call begins the recording. 0 or -ENOMEM. */
int pp_lifetime_profile_build(pp_arena *arena, pp_profile *profile);

/* Writes a profile.proto. 0, -ENOTSUP for another `debug` than 0, -ENOMEM, or the writer's first
 * error. */
int pp_lifetime_profile_write(pprof_writer writer, int debug);

/* The number of pairs of stacks and classes. */
size_t pp_lifetime_profile_count(void);

#endif
