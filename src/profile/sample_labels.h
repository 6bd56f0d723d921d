/* SPDX-License-Identifier: MIT
 *
 * sample_labels.h: makes the labels of a sample from a set of labels.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_PROFILE_SAMPLE_LABELS_H
#define PP_PROFILE_SAMPLE_LABELS_H

#include "base/arena.h"
#include "profile/model.h"
#include "store/labels.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Gives the sample the labels of the set (NULL: none), in the order of their keys, and then the
 * profile's `own` labels. It omits labels of the set that have a key of `own` (readers expect one
 * value for each key). `own` must stay as long as the sample; the set is copied. False: no memory.
 */
bool pp_labels_to_sample_labels(const pprof_labels *labels, const pp_sample_label *own,
                                uint32_t own_count, pp_arena *arena, pp_profile_sample *sample);

#endif
