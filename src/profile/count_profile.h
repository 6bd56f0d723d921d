/* SPDX-License-Identifier: MIT
 *
 * count_profile.h: profiles that only count, NAME/count: threads, thread creations, custom profiles
 * [runtime/pprof.printCountProfile].
 *
 * Whoever keeps such a profile hands over a row for each thing that it counts, a million of them if
 * need be. Rows with equal stacks and equal labels become one sample.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena, or is the caller's.
 */
#ifndef PP_PROFILE_COUNT_PROFILE_H
#define PP_PROFILE_COUNT_PROFILE_H

#include "base/arena.h"
#include "profile/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pprof_labels pprof_labels; /* as in pprof.h */

/* Stack and labels are borrowed; grouping is fastest where equal ones are the same object. */
typedef struct pp_count_row {
    const uintptr_t *pc; /* return-like, leaf-most first */
    uint32_t depth;
    pprof_labels *labels; /* NULL: none */
    int64_t count;        /* above 0 */
} pp_count_row;

/*
 * Fills `profile` with one sample type, name/count, the most frequent samples first, ties as their
 * texts compare (samples.h), as Go has them. `with_labels`: else rows with equal stacks are one
 * sample whatever their labels. Stacks and the name must stay until the profile has been encoded. 0
 * or -ENOMEM.
 */
int pp_count_profile_build(const char *name, const pp_count_row *rows, size_t row_count,
                           bool with_labels, pp_arena *arena, pp_profile *profile);

#endif
