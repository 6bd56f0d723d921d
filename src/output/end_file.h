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

#include "host/kind.h"

#include <stdbool.h>

/* Writes the files that are wanted, and logs what goes wrong. `so_far`: they stay wanted; the
 * process may end now, or go on. `fatal`: it runs in a fatal signal's handler, and gives a stalled
 * reader less time. 0, or the first error; -EBUSY: the thread that writes does not finish. */
int pp_end_files_write(pp_end_file *files, bool so_far, bool fatal);

/* Has the kind write its files: by pp_kind.write, or by the function above. */
void pp_kind_write(const pp_kind *kind, bool so_far, const void *interrupted);

/* Has the kind write its files, and stop recording (pp_kind.stop). */
void pp_kind_stop(const pp_kind *kind, bool confined);

/* No file of the list is wanted any more. */
void pp_end_files_forget(pp_end_file *files);

/* In the child of fork. */
void pp_end_files_after_fork(void);

#endif
