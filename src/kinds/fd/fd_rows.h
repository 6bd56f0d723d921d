/* SPDX-License-Identifier: MIT
 *
 * fd_rows.h: a snapshot of the descriptors that are open, and of the stacks that opened them.
 *
 * The kernel says which descriptors are open (/proc/self/fd), and the table which stack opened
 * each. A descriptor that is in the table but not open was closed past the hooks; the snapshot
 * omits it. A descriptor that is open but not in the table was opened past the hooks; the snapshot
 * shows it as pprof_unseen_descriptor. It omits the descriptors that the library has open itself.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_FD_FD_ROWS_H
#define PP_KINDS_FD_FD_ROWS_H

#include "profile/value_rows.h"
#include "sys/open_descriptors.h"

/* Writes a row for each descriptor; arguments and errors are those of pprof_profile_write(). */
int pp_fd_rows_write(pprof_writer writer, int debug);

/* The number of rows that a snapshot would have now. */
size_t pp_fd_rows_count(void);

/* Calls `visit` for each descriptor that is open now, except the library's own. */
void pp_fd_each(pp_descriptor_visit *visit, void *context);

#endif
