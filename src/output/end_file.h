/* SPDX-License-Identifier: MIT
 *
 * end_file.h: writes profiles to their files when the process ends, each one once.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: one for the file that is being written; a caller gives up after the time that a writer may
 * take.
 * Owns: nothing; the list is the caller's.
 */
#ifndef PP_OUTPUT_END_FILE_H
#define PP_OUTPUT_END_FILE_H

#include "pprof.h"

#include <stdbool.h>

typedef struct pp_end_file {
    const char *kind; /* for %k in the name; the word of LIBPPROF */
    int (*write)(pprof_writer writer);
    bool wanted; /* and is not written yet */
    /* Whether the profile would have no samples: `cpprof record` then does without that of a child,
     * which has no time to spare for its end. NULL: write it to see. */
    bool (*is_empty)(void);
} pp_end_file;

/* Writes the profiles of the list that are wanted, and logs what goes wrong. `fatal`: it runs in a
 * fatal signal's handler, and gives a stalled reader less time. 0, or the first error; -EBUSY: the
 * thread that writes does not finish. */
int pp_end_files_write(pp_end_file *list, unsigned count, bool fatal);

/* pp_end_files_write(), but the profiles stay wanted: the process may end now, or go on. */
void pp_end_files_write_so_far(pp_end_file *list, unsigned count);

/* In the child of fork. */
void pp_end_files_after_fork(void);

#endif
