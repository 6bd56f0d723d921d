/* SPDX-License-Identifier: MIT
 *
 * line.c: see line.h.
 *
 * Tested by: e2e.control, e2e.control_security
 */
#include "line.h"

#include <string.h>

/* Neither NUL nor another control character. */
static size_t plain_length(const char *bytes, size_t length)
{
    size_t i = 0;
    while (i < length && (unsigned char)bytes[i] >= ' ' && bytes[i] != '\x7f') {
        i++;
    }
    return i;
}

long line_read(char *bytes, size_t length)
{
    size_t looked = length < LINE_MAX_BYTES ? length : LINE_MAX_BYTES;
    const char *end = length > 0 ? memchr(bytes, '\n', looked) : NULL;
    if (end == NULL) {
        return length < LINE_MAX_BYTES ? 0 : -414;
    }
    size_t text = (size_t)(end - bytes);
    text -= text > 0 && bytes[text - 1] == '\r';
    if (plain_length(bytes, text) != text) {
        return -400;
    }
    bytes[text] = '\0';
    return end + 1 - bytes;
}
