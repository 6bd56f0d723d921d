/* SPDX-License-Identifier: MIT
 *
 * contention_profile.h: the block and the mutex profile as the model of profile.proto.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_CONTENTION_CONTENTION_PROFILE_H
#define PP_KINDS_CONTENTION_CONTENTION_PROFILE_H

#include "base/arena.h"
#include "profile/model.h"

typedef enum pp_contention_view { PP_CONTENTION_BLOCK, PP_CONTENTION_MUTEX } pp_contention_view;

/* What the values of a sample are. */
enum { PP_CONTENTION_COUNT, PP_CONTENTION_DELAY, PP_CONTENTION_VALUES };

typedef enum pp_contention_detail {
    PP_CONTENTION_STACKS, /* a sample is a stack */
    PP_CONTENTION_LABELS, /* a stack and a set of labels */
    PP_CONTENTION_WAITING /* and those that wait still: in the block profile, with state=waiting */
} pp_contention_detail;

/* Fills `profile`: contentions and delay, by delay. 0 or -ENOMEM. */
int pp_contention_profile_build(pp_contention_view view, pp_contention_detail detail,
                                pp_arena *arena, pp_profile *profile);

/* Its samples alone. */
int pp_contention_samples(pp_contention_view view, pp_contention_detail detail, pp_arena *arena,
                          pp_profile *profile);

#endif
