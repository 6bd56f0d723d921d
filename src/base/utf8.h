/* SPDX-License-Identifier: MIT
 *
 * utf8.h: decodes characters of UTF-8 (Unicode 15, table 3-7).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_UTF8_H
#define PP_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* U+FFFD, in the place of what is no UTF-8. */
#define PP_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Returns how many of the `length` bytes (at least 1) at `bytes` are one valid character;
 * 0: none. */
size_t pp_utf8_length(const void *bytes, size_t length);

/* Returns the character of these `size` bytes, which pp_utf8_length() has found valid. */
uint32_t pp_utf8_character(const void *bytes, size_t size);

#endif
