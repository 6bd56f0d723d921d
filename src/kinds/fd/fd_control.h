/* SPDX-License-Identifier: MIT
 *
 * fd_control.h: the profile of open descriptors: how it begins, where it goes.
 *
 * Zone: NORMAL; the writing also serves the fatal-signal writer.
 * Locks: that of end_file.h.
 * Owns: whether it is on, and whether its file is to be written at the end.
 */
#ifndef PP_KINDS_FD_FD_CONTROL_H
#define PP_KINDS_FD_FD_CONTROL_H

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>

/* Records from now on, and writes a file at the end. */
void pp_fd_control_start(void);

bool pp_fd_control_is_on(void);

/* How many descriptors are open. */
size_t pp_fd_control_count(void);

/* As pprof_profile_write(). */
int pp_fd_control_write(pprof_writer writer, int debug);

/* Writes the file, if it is to be written and has not been. `fatal`: see cpu_control.h. */
void pp_fd_control_end(bool fatal);

/* The program confines itself: as the end, and nothing is recorded any more. True if a file was
 * written. */
bool pp_fd_control_confine(void);

/* Writes what the file would be now; at the end it is written again. */
void pp_fd_control_write_so_far(void);

/* In the child of fork. `keep_file`: it writes one of its own. */
void pp_fd_control_after_fork(bool keep_file);

#endif
