/* SPDX-License-Identifier: MIT
 *
 * contention_control.h: starts the block and the mutex profile, and writes them.
 *
 * Zone: NORMAL; the fatal-signal writer calls the functions that write, too.
 * Locks: that of end_file.h.
 * Owns: which files are to be written at the end.
 */
#ifndef PP_KINDS_CONTENTION_CONTENTION_CONTROL_H
#define PP_KINDS_CONTENTION_CONTENTION_CONTROL_H

#include "kinds/contention/contention_profile.h"
#include "pprof.h"

#include <stdbool.h>
#include <stdint.h>

/* A request with this in the place of a rate stops the recording, and still has a file written. */
enum { PP_CONTENTION_OFF = -1 };

/* The rates that LIBPPROF, pprof_configure() and flags ask for; 0 = none. */
typedef struct pp_contention_request {
    int64_t block_rate, mutex_fraction;
} pp_contention_request;

/* Begins to record at these rates, and has files written at the end. 0 or -ENOMEM. */
int pp_contention_control_start(const pp_contention_request *request);

/* Whether waits or releases are recorded: then modules must be remembered before they are
 * unloaded. */
bool pp_contention_control_is_on(void);

/* Makes the hooks count, or not, as the rates ask; is called when these have changed. */
void pp_contention_control_aim(void);

/* Writes a profile.proto. 0, -ENOMEM, or the writer's first error. */
int pp_contention_control_write(pp_contention_view view, pprof_writer writer);

/* Writes the files of the end that are wanted and not written yet. `fatal`: see cpu_control.h. */
void pp_contention_control_end(bool fatal);

/* Does what the end does, and stops recording, because the program confines itself. True if a file
 * was wanted. */
bool pp_contention_control_confine(void);

/* Writes the files as they would be now. The end writes them again. */
void pp_contention_control_write_so_far(void);

/* Is called in the child of fork. `keep_files`: the child writes files of its own. */
void pp_contention_control_after_fork(bool keep_files);

#endif
