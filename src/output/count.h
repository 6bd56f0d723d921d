/* SPDX-License-Identifier: MIT
 *
 * count.h: writes profiles that only count things: threads, their creations, descriptors, and the
 * values of the program's own profiles.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_OUTPUT_COUNT_H
#define PP_OUTPUT_COUNT_H

#include "profile/count_profile.h"
#include "pprof.h"

#include <stddef.h>

/*
 * Groups rows with equal stacks and labels, most frequent first, ties as in Go (profile/samples.h),
 * and writes them as the profile `name`. debug 0: profile.proto. 1 and above: text with symbols.
 * PPROF_DEBUG_BARE: text of addresses only, an older format without labels: rows are grouped by
 * stack only. 0, -ENOMEM, or the writer's first error.
 */
int pp_count_write(const char *name, const pp_count_row *rows, size_t rows_count, int debug,
                   pprof_writer writer);

#endif
