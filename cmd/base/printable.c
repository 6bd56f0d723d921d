/* SPDX-License-Identifier: MIT
 *
 * printable.c: see printable.h.
 *
 * Tested by: unit.cmd_printable, e2e.cpprof_hostile.
 */
#include "base/printable.h"

#include "src/base/utf8.h"

#include <inttypes.h>
#include <stdint.h>

bool cp_is_control(const char *character, size_t bytes)
{
    uint32_t code = pp_utf8_character(character, bytes);

    return (code < ' ' && code != '\t') || (code >= 0x7f && code <= 0x9f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

/* The bytes of the next character; a byte that is no part of one counts as one. */
static size_t next(const char *text, size_t length, bool *is_control)
{
    unsigned char first = (unsigned char)*text;

    if (first >= ' ' && first < 0x7f) {
        *is_control = false;
        return 1;
    }
    size_t bytes = pp_utf8_length(text, length);
    *is_control = bytes ? cp_is_control(text, bytes) : first >= 0x80 && first <= 0x9f;
    return bytes ? bytes : 1;
}

bool cp_has_controls(const char *text, size_t length)
{
    bool found = false;

    for (size_t at = 0; at < length && !found;) {
        at += next(text + at, length - at, &found);
    }
    return found;
}

static void put_escape(const char *character, size_t bytes, FILE *out)
{
    uint32_t code = pp_utf8_character(character, bytes);

    if (code == '\n' || code == '\r') {
        fputs(code == '\n' ? "\\n" : "\\r", out);
    } else {
        fprintf(out, bytes > 1 ? "\\u%04" PRIx32 : "\\x%02" PRIx32, code);
    }
}

void cp_put_printable(const char *text, size_t length, FILE *out)
{
    size_t shown = 0; /* everything before is written */

    for (size_t at = 0; at < length;) {
        bool is_control;
        size_t bytes = next(text + at, length - at, &is_control);

        if (is_control) {
            fwrite(text + shown, 1, at - shown, out);
            put_escape(text + at, bytes, out);
            shown = at + bytes;
        }
        at += bytes;
    }
    if (length > shown) {
        fwrite(text + shown, 1, length - shown, out);
    }
}

char *cp_printable(const char *text, size_t length)
{
    char *copy = NULL;
    size_t size;
    FILE *out = open_memstream(&copy, &size);

    cp_put_printable(text, length, out);
    fclose(out);
    return copy;
}
