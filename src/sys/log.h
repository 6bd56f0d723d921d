/* SPDX-License-Identifier: MIT
 *
 * log.h: the library's messages, one write(2) each.
 *
 * They go to stderr, or to the file of the option log=. A host may close descriptor 2 and open its
 * data file there: the descriptor is written to only while it is the file that it was at start-up.
 *
 * Zone: SIGNAL for pp_log; errno is preserved.
 * Owns: nothing; a log file is opened and closed for each message.
 */
#ifndef PP_SYS_LOG_H
#define PP_SYS_LOG_H

#include "base/text.h"

#include <stddef.h>

/* Remembers what stderr is. Called once when the library is loaded. */
void pp_log_init(void);

/*
 * A path with placeholders (sys/path_template.h; %k is "log", %n 0), or NULL for stderr. -EINVAL
 * for an unknown one, -ENAMETOOLONG if it does not fit.
 */
int pp_log_set_path(const char *template);

/* The placeholders mean the child from now on: it has a file of its own where they say so. */
void pp_log_after_fork_in_child(void);

/* Writes "libpprof: ", the text and a newline. */
void pp_log(const pp_text *text);

/* Writes whole lines as they are, in one write if the file takes them at once. */
void pp_log_lines(const char *lines, size_t length);

/* "what subject: name of the error; advice". advice may be NULL. */
void pp_log_error(const char *what, const char *subject, int error, const char *advice);

#endif
