/* SPDX-License-Identifier: MIT
 *
 * row_waits.h: which locks the threads of a snapshot wait for (lock_waits.h).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_THREADS_ROW_WAITS_H
#define PP_KINDS_THREADS_ROW_WAITS_H

#include "base/arena.h"
#include "kinds/threads/lock_waits.h"
#include "profile/model.h"
#include "threads/thread_snapshot.h"

/* Finds what the threads wait for; the rows have stacks and names. `profile` has the mappings.
 * 0 or -ENOMEM. */
int pp_row_waits_find(const pp_profile *profile, const pp_threads *threads, pp_arena *arena,
                      pp_lock_waits *found);

#endif
