/* SPDX-License-Identifier: MIT
 *
 * legacy_count.h: writes a count profile as text, as Go's runtime/pprof does with debug=1.
 *
 *   NAME profile: total N
 *   # a comment of the profile
 *   COUNT @ 0xPC 0xPC ...                        a row for each sample
 *   # labels: {"key":"value", "key":"value"}     if it has labels (base/quoted.h)
 *   #<tab>0xPC<tab>name+0xOFF<tab>module         its frames (text_rows.h)
 *
 *   --- Memory map: ---
 *   the text of /proc/self/maps
 *
 * NAME is the type of the samples. A reader would take a line "MAPPED_LIBRARIES:" for a malformed
 * row.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_ENCODE_LEGACY_COUNT_H
#define PP_ENCODE_LEGACY_COUNT_H

#include "base/arena.h"
#include "profile/model.h"
#include "pprof.h"

#include <stdbool.h>

/* Writes the text; with `bare` without the lines of labels and frames. 0, -ENOMEM, the writer's
 * first error, or the error of reading the memory map. */
int pp_legacy_count_encode(const pp_profile *profile, bool bare, pp_arena *arena,
                           pprof_writer writer);

#endif
