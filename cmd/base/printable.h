/* SPDX-License-Identifier: MIT
 *
 * printable.h: control characters in texts that others wrote.
 *
 * A name in a profile may have any bytes. A terminal obeys some of them, and a line break ends the
 * line of a report. So texts show them as C would write them: "\n", "\x1b", "\u202e". A backslash
 * stays as it is: names of files have them.
 *
 *   names      cp_report_init() (report/report.h), for every report that is text
 *   messages   cp_fail(), cp_complain() (base/message.h)
 *   the rest   whoever prints it: lines of source, command lines, names of threads
 *
 * JSON has escapes of its own for the same characters (base/json.h).
 */
#ifndef CP_PRINTABLE_H
#define CP_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Whether the valid character steers a terminal, breaks a line, or changes the direction of the
 * text: U+0000 to U+001F but for the tab, U+007F to U+009F, U+2028 to U+202E, U+2066 to U+2069. */
bool cp_is_control(const char *character, size_t bytes);

/* Whether the text has such a character, or a byte from 0x80 to 0x9f that is no part of a
 * character: terminals that do not read UTF-8 obey these. */
bool cp_has_controls(const char *text, size_t length);

/* Returns a copy that shows them escaped; to be freed. */
char *cp_printable(const char *text, size_t length);

/* Prints the text, and shows them escaped. */
void cp_put_printable(const char *text, size_t length, FILE *out);

#endif
