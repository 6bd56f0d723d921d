/* SPDX-License-Identifier: MIT
 *
 * samples.h: the samples of a profile, gathered and put into the order that every reader gets: by a
 * value, descending, ties by stack, then by labels. Profiles that count have Go's order of ties:
 * that of the texts of stack and labels.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_SAMPLES_H
#define PP_PROFILE_SAMPLES_H

#include "base/arena.h"
#include "profile/model.h"

#include <stddef.h>

typedef struct pp_samples {
    pp_profile_sample *list;
    size_t count, capacity;
} pp_samples;

/* Room for so many. 0 or -ENOMEM. */
int pp_samples_init(pp_samples *samples, size_t capacity, pp_arena *arena);

/* Beyond the capacity: nothing happens (hooks may have added stacks since they were counted). */
void pp_samples_add(pp_samples *samples, const pp_profile_sample *sample);

/* Sorts them by value[by] and gives them to the profile. 0 or -ENOMEM. */
int pp_samples_give(const pp_samples *samples, unsigned by, pp_arena *arena, pp_profile *profile);

/*
 * The same with ties as the text of debug=1 compares, byte by byte: "@ 0xPC 0xPC ..." and, if there
 * are labels with a text, a line "# labels: {...}" below it [runtime/pprof.keysByCount].
 */
int pp_samples_give_as_texts(const pp_samples *samples, unsigned by, pp_arena *arena,
                             pp_profile *profile);

/* The labels that are texts, in the order in which a text has them: what comes after `last` (NULL:
 * the first one); NULL at the end. Numeric labels are for profile.proto alone. Samples have a
 * handful of labels. */
const pp_sample_label *pp_sample_next_label(const pp_profile_sample *sample,
                                            const pp_sample_label *last);

#endif
