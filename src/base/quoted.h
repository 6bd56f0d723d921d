/* SPDX-License-Identifier: MIT
 *
 * quoted.h: writes a text in double quotes, as Go's %q does: on one line, in printable characters,
 * and unambiguous.
 *
 *   "            \"            control characters   \a \b \t \n \v \f \r, others \x1b
 *   \            \\            invalid UTF-8        \xff, byte by byte
 *   printable    unchanged     unprintable          \u00a0 \U0001f3fb
 *
 * Spaces other than " ", characters that direct the text's flow, and those of private use count as
 * unprintable. (Characters that Unicode has not assigned count as printable; Go's tables escape
 * them.)
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_BASE_QUOTED_H
#define PP_BASE_QUOTED_H

#include <stddef.h>

enum { PP_QUOTED_MAX = 10 /* \U0001f3fb */ };

/* Stores the *length bytes of text that represent the first character of `text`, or the quote at
 * its end. Returns the number of bytes of `text` that they represent; 0: the end. */
size_t pp_quoted_next(const char *text, char bytes[PP_QUOTED_MAX], size_t *length);

/* Compares two texts byte by byte, as they are quoted: less than, equal to or greater than 0. */
int pp_quoted_compare(const char *x, const char *y);

#endif
