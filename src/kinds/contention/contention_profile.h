/* SPDX-License-Identifier: MIT
 *
 * contention_profile.h: builds the model (profile/model.h) of the block and the mutex profile.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_CONTENTION_CONTENTION_PROFILE_H
#define PP_KINDS_CONTENTION_CONTENTION_PROFILE_H

#include "base/arena.h"
#include "profile/model.h"

#include "pprof.h"

typedef enum pp_contention_view { PP_CONTENTION_BLOCK, PP_CONTENTION_MUTEX } pp_contention_view;

/* The values of a sample. */
enum { PP_CONTENTION_COUNT, PP_CONTENTION_DELAY, PP_CONTENTION_VALUES };

typedef enum pp_contention_detail {
    PP_CONTENTION_STACKS, /* a sample is a stack */
    PP_CONTENTION_LABELS, /* a sample is a stack and a set of labels */
    PP_CONTENTION_WAITING /* also: the block profile has the waits that go on, as state=waiting */
} pp_contention_detail;

/* Fills `profile`, whose values are contentions and delay; the greatest delay comes first. 0 or
 * -ENOMEM. */
int pp_contention_profile_build(pp_contention_view view, pp_contention_detail detail,
                                pp_arena *arena, pp_profile *profile);

/* Fills in only the samples. 0 or -ENOMEM. */
int pp_contention_samples(pp_contention_view view, pp_contention_detail detail, pp_arena *arena,
                          pp_profile *profile);

/* Writes a profile.proto, with the waits that go on. 0, -ENOMEM, or the writer's first error. */
int pp_contention_profile_write(pp_contention_view view, pprof_writer writer);

#endif
