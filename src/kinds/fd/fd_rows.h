/* SPDX-License-Identifier: MIT
 *
 * fd_rows.h: a snapshot of the descriptors that are open, and of who opened them.
 *
 * The kernel says what is open (/proc/self/fd), the table by whom: what is closed and still in the
 * table was closed past the hooks and is dropped; what is open and not there was opened past them
 * and is shown as pprof_unseen_descriptor. What the library has open itself is left out.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_FD_FD_ROWS_H
#define PP_KINDS_FD_FD_ROWS_H

#include "profile/value_rows.h"
#include "sys/open_descriptors.h"

/* One row for each descriptor, in the order of the numbers that the kernel has them in. 0 or
 * -ENOMEM. To be released by pp_value_rows_release(), after an error too. */
int pp_fd_rows_read(pp_arena *arena, pp_value_rows *rows);

/* How many rows that would be. */
size_t pp_fd_rows_count(void);

/* Calls back for what is open now, what the library has open itself apart. */
void pp_fd_each(pp_descriptor_visit *visit, void *context);

#endif
