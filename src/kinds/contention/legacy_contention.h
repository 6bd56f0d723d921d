/* SPDX-License-Identifier: MIT
 *
 * legacy_contention.h: writes the block and mutex profiles as text, as Go's runtime/pprof does with
 * debug=1.
 *
 *   --- contention:          or  --- mutex:
 *   cycles/second=1000000000     cycles/second=1000000000
 *                                sampling period=1
 *   # a comment of the profile
 *   CYCLES COUNT @ 0xPC 0xPC ...                 a row for each sample
 *   #<tab>0xPC<tab>name+0xOFF<tab>module         its frames (text_rows.h)
 *
 *   --- Memory map: ---
 *   the text of /proc/self/maps
 *
 * The values of a mutex profile are scaled when they are recorded, so its sampling period is 1.
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_CONTENTION_LEGACY_CONTENTION_H
#define PP_KINDS_CONTENTION_LEGACY_CONTENTION_H

#include "kinds/contention/contention_profile.h"
#include "pprof.h"

#include <stdbool.h>

/* `bare`: without the lines of frames. 0, -ENOMEM, the writer's first error, or the error of
 * reading the maps. */
int pp_legacy_contention_write(pp_contention_view view, bool bare, pprof_writer writer);

#endif
