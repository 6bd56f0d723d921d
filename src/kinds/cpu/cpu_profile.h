/* SPDX-License-Identifier: MIT
 *
 * cpu_profile.h: makes a profile that can be encoded of the counts of a CPU session.
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
 * Fills `profile`. Samples are in descending order of weight, ties by stack, then by labels. Not
 * `with_labels`: a stack is one sample. The pseudo-frame pprof_lost_samples has the lost samples,
 * and the comments say what went wrong. 0 or -ENOMEM.
 */
int pp_cpu_profile_build(const pp_cpu_result *result, bool with_labels, pp_arena *arena,
                         pp_profile *profile);

/* Gives the profile the comments on what went wrong. 0 or -ENOMEM. */
int pp_cpu_profile_add_comments(const pp_cpu_result *result, pp_arena *arena, pp_profile *profile);

#endif
