/* SPDX-License-Identifier: MIT
 *
 * quoted.h: a text in double quotes, as Go's %q writes it: on one line, in printable characters,
 * and never ambiguous.
 *
 *   "            \"            control characters   \a \b \t \n \v \f \r, others \x1b
 *   \            \\            no valid UTF-8       \xff, a byte at a time
 *   what prints  as it is      what does not print  \u00a0 \U0001f3fb
 *
 * Spaces other than " ", characters that direct the text's flow, and those of private use do not
 * print. (Characters that Unicode has not assigned do here; Go's tables escape them.)
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_BASE_QUOTED_H
#define PP_BASE_QUOTED_H

#include <stddef.h>

enum { PP_QUOTED_MAX = 10 /* \U0001f3fb */ };

/*
 * What stands for the first character of the text, or the quote at its end, in *length bytes.
 * Returns how many bytes of the text that is; 0: the end.
 */
size_t pp_quoted_next(const char *text, char bytes[PP_QUOTED_MAX], size_t *length);

/* How two quoted texts compare, byte by byte: less than, equal to or greater than 0. */
int pp_quoted_compare(const char *x, const char *y);

#endif
