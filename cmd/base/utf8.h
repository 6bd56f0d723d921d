/* SPDX-License-Identifier: MIT
 *
 * utf8.h: names of functions may have any bytes; most formats want UTF-8.
 */
#ifndef CP_UTF8_H
#define CP_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* U+FFFD, which stands for what is no UTF-8. */
#define CP_REPLACEMENT "\xef\xbf\xbd"

/* The number of bytes of the character that begins at text[0]; 0 if it is no valid UTF-8. There is
 * one byte at least. */
size_t cp_utf8_bytes(const char *text, size_t length);

/* The number of a character of so many bytes, which are valid, or of the one byte. */
uint32_t cp_utf8_code(const char *text, size_t bytes);

#endif
