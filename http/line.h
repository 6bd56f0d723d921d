/* SPDX-License-Identifier: MIT
 *
 * line.h: reads what a client of the control socket asks: one line (docs/CONTROL.md).
 *
 * The bytes come from anybody who passes for the process's user: see test/fuzz/fuzz_control_line.c.
 */
#ifndef PP_HTTP_LINE_H
#define PP_HTTP_LINE_H

#include <stddef.h>

enum { LINE_MAX_BYTES = 8192 /* options are no longer than 4095 */ };

/*
 * Reads the line at the beginning of `length` bytes. Its end, "\n" or "\r\n", becomes a NUL.
 *
 *   > 0    the length of the line with its end; the text is at `bytes`
 *   0      it does not end in these bytes; they are unchanged
 *   < 0    the status of the refusal, negative: -400 (a control character), -414 (too long)
 */
long line_read(char *bytes, size_t length);

#endif
