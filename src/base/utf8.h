/* SPDX-License-Identifier: MIT
 *
 * utf8.h: characters of UTF-8 (Unicode 15, table 3-7).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_BASE_UTF8_H
#define PP_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* How many of the `length` bytes (at least 1) at `text` are one character in valid UTF-8;
 * 0: none. */
size_t pp_utf8_length(const uint8_t *text, size_t length);

/* The character of these `size` bytes, which pp_utf8_length() has found valid. */
uint32_t pp_utf8_character(const uint8_t *text, size_t size);

#endif
