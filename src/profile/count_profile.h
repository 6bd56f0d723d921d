/* SPDX-License-Identifier: MIT
 *
 * count_profile.h: builds profiles that only count, NAME/count: threads, thread creations, custom
 * profiles [runtime/pprof.printCountProfile].
 *
 * The owner of such a profile provides one row for each counted thing, a million of them if need
 * be. Rows with equal stacks and equal labels become one sample.
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

/* A row borrows stack and labels. Grouping is fastest if equal stacks and sets are the
 * same object. */
typedef struct pp_count_row {
    const uintptr_t *pc; /* return-like, leaf-most first */
    uint32_t depth;
    pprof_labels *labels; /* NULL: none */
    int64_t count;        /* above 0 */
} pp_count_row;

/*
 * Fills `profile` with one sample type, name/count. The most frequent samples come first; ties are
 * ordered as their texts compare (samples.h), as in Go. Without `with_labels`, rows with equal
 * stacks are one sample whatever their labels. Stacks and the name must stay until the profile has
 * been encoded. 0 or -ENOMEM.
 */
int pp_count_profile_build(const char *name, const pp_count_row *rows, size_t row_count,
                           bool with_labels, pp_arena *arena, pp_profile *profile);

#endif
