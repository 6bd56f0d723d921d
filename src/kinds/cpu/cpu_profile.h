/* SPDX-License-Identifier: MIT
 *
 * cpu_profile.h: from the counts of a CPU session to a profile that can be encoded.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no loader lock).
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_CPU_CPU_PROFILE_H
#define PP_KINDS_CPU_CPU_PROFILE_H

#include "base/arena.h"
#include "profile/model.h"
#include "kinds/cpu/cpu.h"

/*
 * Fills `profile`: samples by weight, descending, ties by stack, then by labels (with_labels: else
 * a stack is one sample); lost ones on the pseudo-frame pprof_lost_samples; what went wrong in the
 * comments. 0 or -ENOMEM.
 */
int pp_cpu_profile_build(const pp_cpu_result *result, bool with_labels, pp_arena *arena,
                         pp_profile *profile);

#endif
