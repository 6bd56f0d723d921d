/* SPDX-License-Identifier: MIT
 *
 * wall.h: looks at all threads at random moments, while at least one user wants to know where time
 * passes.
 *
 *   looker (a thread of the library) --> snapshot of the threads --> accounts (wall_accounts.h)
 *   CPU sampler (cpu_control.h)      --> what runs                        |
 *                                                  profile (wall_profile.h) of both
 *
 * If a CPU profile runs that cannot be shared, its counts serve, too. What a CPU profile has counted before it serves is not
 * the first user's.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: `turn`, before the session lock of cpu_control.c and the lock of wall_accounts.c.
 * Owns: the looker, and the number of users.
 */
#ifndef PP_KINDS_CPU_WALL_H
#define PP_KINDS_CPU_WALL_H

#include "kinds/cpu/wall_profile.h"

#include <stdbool.h>

enum { PP_WALL_HZ = 20 };

/* Is called with `turn` held. 0 or -errno. */
typedef int pp_wall_look(const pp_wall_counts *counts, void *context);

/* Joins the users; the first one has `hz` looks a second. `look` is called with what was counted
 * before. 0 or -errno, as pp_cpu_control_join(). */
int pp_wall_join(int hz, pp_wall_look *look, void *context);

/* Leaves. `look` (NULL: none) is called with what has been counted until now. Returns what it returns;
 * -ECANCELED in the child of fork; -EBUSY if another thread does not finish in time. `fatal`: in the
 * handler of a fatal signal. */
int pp_wall_leave(pp_wall_look *look, void *context, bool fatal);

/* Calls `look` with what has been counted until now. -ESRCH: there is no user. */
int pp_wall_so_far(pp_wall_look *look, void *context);

/* The program confines itself: nobody looks any more. */
void pp_wall_confine(void);

void pp_wall_after_fork_in_child(void);

#endif
