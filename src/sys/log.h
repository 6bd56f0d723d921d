/* SPDX-License-Identifier: MIT
 *
 * log.h: the library's messages, one write(2) each.
 *
 * They go to stderr, or to the file of the option log=. A host may close descriptor 2 and open its
 * data file there: the descriptor is written to only while it is the file that it was at start-up.
 *
 * Zone: SIGNAL for pp_log; errno is preserved.
 * Locks: none.
 * Owns: nothing; a log file is opened and closed for each message.
 */
#ifndef PP_SYS_LOG_H
#define PP_SYS_LOG_H

#include "base/text.h"

#include <stddef.h>

/* Remembers what stderr is. Called once when the library is loaded. */
void pp_log_init(void);

/* An absolute path, or NULL for stderr. The text is copied; -ENAMETOOLONG if it does not fit. */
int pp_log_set_path(const char *path);

/* Writes "libpprof: ", the text and a newline. */
void pp_log(const pp_text *text);

/* Writes whole lines as they are, in one write if the file takes them at once. */
void pp_log_lines(const char *lines, size_t length);

/* "what subject: name of the error; advice". advice may be NULL. */
void pp_log_error(const char *what, const char *subject, int error, const char *advice);

#endif
