/* SPDX-License-Identifier: MIT
 *
 * heap_profile.h: makes the model of profile.proto from the buckets of the heap sampler.
 *
 * The program runs on meanwhile. Each bucket is consistent in itself (never more freed than
 * allocated); the profile may or may not show what is allocated or freed meanwhile.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no loader lock).
 */
#ifndef PP_KINDS_HEAP_HEAP_PROFILE_H
#define PP_KINDS_HEAP_HEAP_PROFILE_H

#include "base/arena.h"
#include "kinds/heap/heap_rows.h"
#include "profile/model.h"

#include "pprof.h"

typedef enum pp_heap_view {
    PP_HEAP_INUSE, /* the profile "heap" */
    PP_HEAP_PEAK,  /* the profile "peak": "heap" at the moment when the most was in use */
    PP_HEAP_ALLOCS /* the profile "allocs": the same values, ordered by allocated bytes */
} pp_heap_view;

/*
 * Fills `profile` with a sample for each stack and block size: estimates of the blocks and bytes
 * allocated so far and in use now. Samples are in the order of bytes in use (for PP_HEAP_ALLOCS:
 * allocated), ties in the order of stacks. Sites whose blocks were all freed are included. Lost
 * samples are on the pseudo-frame pprof_lost_samples. All memory is in the arena. 0 or -ENOMEM.
 */
int pp_heap_profile_build(pp_heap_view view, pp_arena *arena, pp_profile *profile);

/* Fills `profile` from rows, whose values become those of the samples. 0 or -ENOMEM. */
int pp_heap_profile_of_rows(const pp_heap_rows *rows, pp_heap_view view, pp_arena *arena,
                            pp_profile *profile);

/* Writes a profile.proto. 0, -ENOMEM or the writer's first error. */
int pp_heap_profile_write(pp_heap_view view, pprof_writer writer);

#endif
