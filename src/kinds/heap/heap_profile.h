/* SPDX-License-Identifier: MIT
 *
 * heap_profile.h: the buckets of the heap sampler as the model of profile.proto.
 *
 * The program goes on while they are read: each bucket is consistent in itself (never more freed
 * than allocated), and what is allocated or freed meanwhile may or may not be in.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no loader lock).
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_HEAP_HEAP_PROFILE_H
#define PP_KINDS_HEAP_HEAP_PROFILE_H

#include "base/arena.h"
#include "kinds/heap/heap_rows.h"
#include "profile/model.h"

typedef enum pp_heap_view {
    PP_HEAP_INUSE, /* the profile "heap" */
    PP_HEAP_PEAK,  /* the profile "peak": "heap" as it was when the most was in use */
    PP_HEAP_ALLOCS /* the profile "allocs": the same, seen from the other side first */
} pp_heap_view;

/*
 * Fills `profile`: a sample for each stack and block size, with the estimates of blocks and bytes
 * allocated so far and in use now; ordered by bytes in use (allocated, for PP_HEAP_ALLOCS), ties by
 * stack. Sites whose blocks were all freed are included. What could not be stored is on the
 * pseudo-frame pprof_lost_samples. 0 or -ENOMEM.
 */
int pp_heap_profile_build(pp_heap_view view, pp_arena *arena, pp_profile *profile);

/* The same from rows that were read already, whose values are taken as they are. */
int pp_heap_profile_of_rows(const pp_heap_rows *rows, pp_heap_view view, pp_arena *arena,
                            pp_profile *profile);

#endif
