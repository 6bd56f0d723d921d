/* SPDX-License-Identifier: MIT
 *
 * legacy_cpu.h: writes a CPU profile in the binary format that gperftools defined.
 *
 *   header    0 3 0 PERIOD_US 0
 *   record    COUNT DEPTH PC[0] ... PC[DEPTH-1]     one for each sample
 *   trailer   0 1 0
 *   an empty line, "MAPPED_LIBRARIES:", the text of /proc/self/maps      unless that cannot be read
 *
 * Every field is a native word. gperftools describes the format in docs/cpuprofile-fileformat. The
 * line before the maps is that of Go's runtime/pprof of 2016; the readers of both ignore it.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio; stack below 4 KiB).
 * Owns: nothing; all memory is the arena's.
 */
#ifndef PP_KINDS_CPU_LEGACY_CPU_H
#define PP_KINDS_CPU_LEGACY_CPU_H

#include "base/arena.h"
#include "profile/model.h"

#include "pprof.h"

/* Writes `profile`: value[0] of each sample is its count; the period is in nanoseconds. Returns 0,
 * the writer's first error, or -ENOMEM. */
int pp_legacy_cpu_encode(const pp_profile *profile, pp_arena *arena, pprof_writer writer);

#endif
