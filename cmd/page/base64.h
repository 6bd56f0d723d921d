/* SPDX-License-Identifier: MIT
 *
 * base64.h: bytes as text that has no meaning in HTML (RFC 4648).
 */
#ifndef CP_PAGE_BASE64_H
#define CP_PAGE_BASE64_H

#include <stddef.h>
#include <stdint.h>

enum { BASE64_BYTES = 3, BASE64_DIGITS = 4 };

/* Encodes the first three of `left` bytes, which is at least 1; the last group may have fewer. */
void base64_group(const uint8_t *data, size_t left, char digits[BASE64_DIGITS]);

#endif
