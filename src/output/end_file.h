/* SPDX-License-Identifier: MIT
 *
 * end_file.h: a profile that is written to its file when the process ends, once.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: one for the file that is being written; only tried, for as long as a writer may take.
 * Owns: nothing; what is wanted is the caller's.
 */
#ifndef PP_OUTPUT_END_FILE_H
#define PP_OUTPUT_END_FILE_H

#include "pprof.h"

#include <stdbool.h>

typedef struct pp_end_file {
    const char *kind; /* %k of the name, and the word of LIBPPROF */
    int (*write)(pprof_writer writer);
    bool wanted; /* and not written yet */
} pp_end_file;

/* Writes those of the list that are wanted. What goes wrong is said on the log. `fatal`: see
 * cpu_control.h. */
void pp_end_files_write(pp_end_file *list, unsigned count, bool fatal);

/* The same, and they stay wanted: as they are now, in case that the process does not go on. */
void pp_end_files_write_so_far(pp_end_file *list, unsigned count);

/* In the child of fork. */
void pp_end_files_after_fork(void);

#endif
