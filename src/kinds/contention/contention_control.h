/* SPDX-License-Identifier: MIT
 *
 * contention_control.h: the block and the mutex profile of the process: how they begin, where they
 * go.
 *
 * Zone: NORMAL; the writing also serves the fatal-signal writer.
 * Locks: that of end_file.h.
 * Owns: which files are to be written at the end.
 */
#ifndef PP_KINDS_CONTENTION_CONTENTION_CONTROL_H
#define PP_KINDS_CONTENTION_CONTENTION_CONTROL_H

#include "kinds/contention/contention_profile.h"
#include "pprof.h"

#include <stdbool.h>
#include <stdint.h>

/* Instead of a rate: nothing is recorded from now on, and there is a file all the same. */
enum { PP_CONTENTION_OFF = -1 };

/* What LIBPPROF, pprof_configure() and flags say: 0 = nothing. */
typedef struct pp_contention_request {
    int64_t block_rate, mutex_fraction;
} pp_contention_request;

/* Recording at these rates, and a file at the end. 0 or -ENOMEM. */
int pp_contention_control_start(const pp_contention_request *request);

/* Whether anything is recorded, so that modules must be remembered before they go. */
bool pp_contention_control_is_on(void);

/* The rates have changed: whether hooks count. */
void pp_contention_control_aim(void);

/* Writes a profile.proto. 0, -ENOMEM, or the writer's first error. */
int pp_contention_control_write(pp_contention_view view, pprof_writer writer);

/* Writes the files that are to be written and have not been. `fatal`: see cpu_control.h. */
void pp_contention_control_end(bool fatal);

/* The program confines itself: as the end, and nothing is recorded any more. True if a file was
 * written. */
bool pp_contention_control_confine(void);

/* Writes what the file would be now; at the end it is written again. */
void pp_contention_control_write_so_far(void);

/* In the child of fork. `keep_files`: it writes files of its own. */
void pp_contention_control_after_fork(bool keep_files);

#endif
