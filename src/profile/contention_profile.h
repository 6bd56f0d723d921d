/* SPDX-License-Identifier: MIT
 *
 * contention_profile.h: the block and the mutex profile as the model of profile.proto.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_CONTENTION_PROFILE_H
#define PP_PROFILE_CONTENTION_PROFILE_H

#include "base/arena.h"
#include "profile/model.h"

#include <stdbool.h>

typedef enum pp_contention_view { PP_CONTENTION_BLOCK, PP_CONTENTION_MUTEX } pp_contention_view;

/* What the values of a sample are. */
enum { PP_CONTENTION_COUNT, PP_CONTENTION_DELAY, PP_CONTENTION_VALUES };

/*
 * Fills `profile`: contentions and delay, by delay. `with_waiting`: the block profile also has the
 * waits that go on, with the label state=waiting. 0 or -ENOMEM.
 */
int pp_contention_profile_build(pp_contention_view view, bool with_waiting, pp_arena *arena,
                                pp_profile *profile);

/* Its samples alone. */
int pp_contention_samples(pp_contention_view view, bool with_waiting, pp_arena *arena,
                          pp_profile *profile);

#endif
