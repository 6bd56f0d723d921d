/* SPDX-License-Identifier: MIT
 *
 * moments.h: the moments at which files are written while the program goes on: the end of the
 * `duration`, each `interval`, and the `signal`.
 *
 * Zone: NORMAL.
 * Locks: that of all_kinds.h, which the workers take.
 * Owns: the workers (host/worker.h).
 */
#ifndef PP_API_MOMENTS_H
#define PP_API_MOMENTS_H

#include "api/options.h"

#include <stdint.h>

/* Gives files that are written several times several names, unless the user has chosen one. */
void pp_moments_number_files(const pp_options *options);

/* Begins to wait for the moments that the options of the process want. 0 or the first error, which
 * is also on the log; what ends with the duration is then written at the end of the process. */
int pp_moments_begin(void);

/* Ends the waiting. `undo`: the signal has the action again that it had before. */
void pp_moments_end(bool undo);

/* Nanoseconds, at least 1; 0: there is no duration. */
uint64_t pp_moments_left_of_duration(void);

/* In the child of fork. */
void pp_moments_after_fork(void);

#endif
