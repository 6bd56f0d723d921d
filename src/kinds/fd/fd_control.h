/* SPDX-License-Identifier: MIT
 *
 * fd_control.h: starts the profile of open descriptors, and writes it.
 *
 * Zone: NORMAL; the fatal-signal writer calls the functions that write, too.
 * Locks: that of end_file.h.
 * Owns: whether it is on, and whether its file is to be written at the end.
 */
#ifndef PP_KINDS_FD_FD_CONTROL_H
#define PP_KINDS_FD_FD_CONTROL_H

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>

/* Begins to record, and has a file written at the end. */
void pp_fd_control_start(void);

/* Whether openings are recorded. */
bool pp_fd_control_is_on(void);

/* The number of descriptors that the program has open. */
size_t pp_fd_control_count(void);

/* Writes the profile now; arguments and errors are those of pprof_profile_write(). */
int pp_fd_control_write(pprof_writer writer, int debug);

/* Writes the file of the end, if it is wanted and not written yet. `fatal`: see cpu_control.h. */
void pp_fd_control_end(bool fatal);

/* Does what the end does, and stops recording, because the program confines itself. True if the
 * file was wanted. */
bool pp_fd_control_confine(void);

/* Forgets where descriptors were opened: the program does not call our hooks any more. */
void pp_fd_control_forget(void);

/* Writes the file as it would be now. The end writes it again. */
void pp_fd_control_write_so_far(void);

/* Is called in the child of fork. `keep_file`: the child writes a file of its own. */
void pp_fd_control_after_fork(bool keep_file);

#endif
