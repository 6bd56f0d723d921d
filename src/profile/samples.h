/* SPDX-License-Identifier: MIT
 *
 * samples.h: collects the samples of a profile with their labels, and sorts them for all readers.
 *
 * The order is by a value, descending; ties by stack, then by labels. Count profiles order ties as
 * Go does: by the texts of stack and labels.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_SAMPLES_H
#define PP_PROFILE_SAMPLES_H

#include "base/arena.h"
#include "profile/model.h"
#include "store/labels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_samples {
    pp_profile_sample *list;
    size_t count, capacity;
} pp_samples;

/* Makes room for `capacity` samples. 0 or -ENOMEM. */
int pp_samples_init(pp_samples *samples, size_t capacity, pp_arena *arena);

/* Adds a sample, unless the capacity is reached (hooks may have added stacks since they were
 * counted). */
void pp_samples_add(pp_samples *samples, const pp_profile_sample *sample);

/* Sorts the samples by value[by] and gives them to the profile. 0 or -ENOMEM. */
int pp_samples_give(const pp_samples *samples, unsigned by, pp_arena *arena, pp_profile *profile);

/*
 * pp_samples_give_as_texts() does the same, but compares ties byte by byte as the text of debug=1:
 * "@ 0xPC 0xPC ..." and, for labels with a text, a line "# labels: {...}" below it
 * [runtime/pprof.keysByCount].
 */
int pp_samples_give_as_texts(const pp_samples *samples, unsigned by, pp_arena *arena,
                             pp_profile *profile);

/*
 * Iterates over the labels with a text, in the order of texts: returns the label after `last`
 * (NULL: the first one); NULL at the end. Only profile.proto has numeric labels. A sample has a
 * handful of labels.
 */
const pp_sample_label *pp_sample_next_label(const pp_profile_sample *sample,
                                            const pp_sample_label *last);

/*
 * Gives the sample the labels of the set (NULL: none), in the order of their keys, and then the
 * profile's `own` labels. It omits labels of the set that have a key of `own` (readers expect one
 * value for each key). `own` must stay as long as the sample; the set is copied. False: no memory.
 */
bool pp_labels_to_sample_labels(const pprof_labels *labels, const pp_sample_label *own,
                                uint32_t own_count, pp_arena *arena, pp_profile_sample *sample);

#endif
