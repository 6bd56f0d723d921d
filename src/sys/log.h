/* SPDX-License-Identifier: MIT
 *
 * log.h: the library's messages, each in one write(2).
 *
 * Messages go to stderr, or to the file of the option log=. A host may close descriptor 2 and open
 * its data file there, so the library writes to descriptor 2 only while it is the same file as at
 * start-up.
 *
 * Zone: SIGNAL for pp_log; errno is preserved.
 * Owns: nothing; each message opens and closes the log file.
 */
#ifndef PP_SYS_LOG_H
#define PP_SYS_LOG_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records what stderr is. Start-up code calls it once, when the library is loaded. */
void pp_log_init(void);

/* Sets the log file: a path with placeholders (sys/path_template.h; %k is "log", %n 0), or NULL for
 * stderr. -EINVAL for an unknown placeholder, -ENAMETOOLONG if the path does not fit. */
int pp_log_set_path(const char *template);

/* Expands the placeholders again, so that the child has a log file of its own if they name one. */
void pp_log_after_fork_in_child(void);

/* Writes "libpprof: ", the text and a newline. */
void pp_log(const pp_text *text);

/* From now on the text of each message is also copied to *copy; NULL: to nowhere. */
void pp_log_copy_to(pp_text *copy);

/* Writes whole lines unchanged, in one write if the file takes them at once. */
void pp_log_lines(const char *lines, size_t length);

/* pp_log_lines(), but gives up once CLOCK_MONOTONIC passes `give_up_ns`: a full pipe that nobody reads
 * must not hold the caller. False if it gave up, or if there is no log. */
bool pp_log_lines_until(const char *lines, size_t length, uint64_t give_up_ns);

/* Writes "what subject: name of the error; advice". `advice` may be NULL. */
void pp_log_error(const char *what, const char *subject, int error, const char *advice);

#endif
