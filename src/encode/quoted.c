/* SPDX-License-Identifier: MIT
 *
 * quoted.c: what has to be escaped, and how.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none.
 * Owns: nothing.
 */
#include "encode/quoted.h"

#include "encode/utf8.h"

#include <stdbool.h>
#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

/* Unicode 15: categories Cc, Cf, Zs (but the space), Zl, Zp, Co; and what is no character. */
static const range unprintable[] = {
    {0x00, 0x1f},       {0x7f, 0xa0},       {0xad, 0xad},        {0x600, 0x605},
    {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},      {0x890, 0x891},
    {0x8e2, 0x8e2},     {0x1680, 0x1680},   {0x180e, 0x180e},    {0x2000, 0x200f},
    {0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},    {0xd800, 0xf8ff},
    {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},    {0xfffe, 0xffff},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},  {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0001, 0xe007f}, {0xf0000, 0x10ffff},
};

static bool is_printable(uint32_t character)
{
    for (size_t i = 0; i < sizeof unprintable / sizeof *unprintable; i++) {
        if (character <= unprintable[i].last) {
            return character < unprintable[i].first;
        }
    }
    return true;
}

/* The letter behind the backslash, or 0. */
static char short_escape(uint32_t character)
{
    static const char from[] = "\a\b\f\n\r\t\v\\\"";
    static const char to[] = "abfnrtv\\\"";
    const char *at = character != 0 && character < 0x80 ? strchr(from, (char)character) : NULL;
    return to[at != NULL ? (size_t)(at - from) : sizeof to - 1];
}

/* A backslash, a letter, and the number. */
static size_t put_hex(char *to, char letter, uint32_t number, unsigned digits)
{
    size_t length = 0;
    to[length++] = '\\';
    to[length++] = letter;
    for (unsigned i = 0; i < digits; i++) {
        to[length++] = "0123456789abcdef"[number >> (4 * (digits - 1 - i)) & 15];
    }
    return length;
}

static size_t put_escaped(char *to, uint32_t character)
{
    char letter = short_escape(character);
    if (letter != '\0') {
        to[0] = '\\';
        to[1] = letter;
        return 2;
    }
    if (character < 0x80) {
        return put_hex(to, 'x', character, 2);
    }
    return character < 0x10000 ? put_hex(to, 'u', character, 4) : put_hex(to, 'U', character, 8);
}

enum { QUOTED_MAX = 10 }; /* bytes that stand for one character */

/* What stands for the first character of `*text`, of which `*left` bytes are left; goes past it. */
static size_t quote_one(const char **text, size_t *left, char to[QUOTED_MAX])
{
    const uint8_t *bytes = (const uint8_t *)*text;
    size_t size = pp_utf8_length(bytes, *left);
    uint32_t character = size > 0 ? pp_utf8_character(bytes, size) : bytes[0];
    size_t length = size;
    if (size == 0) {
        length = put_hex(to, 'x', character, 2);
        size = 1;
    } else if (is_printable(character) && short_escape(character) == '\0') {
        memcpy(to, *text, size);
    } else {
        length = put_escaped(to, character);
    }
    *text += size;
    *left -= size;
    return length;
}

void pp_text_stream_quoted(pp_text_stream *stream, const char *text)
{
    size_t left = strlen(text);
    pp_text_stream_add(stream, "\"");
    while (left > 0) {
        char quoted[QUOTED_MAX];
        size_t length = quote_one(&text, &left, quoted);
        pp_text_stream_bytes(stream, quoted, length);
    }
    pp_text_stream_add(stream, "\"");
}

/* No character's quoted form begins with another's, so the first difference decides. */
int pp_quoted_compare(const char *x, const char *y)
{
    size_t x_left = strlen(x);
    size_t y_left = strlen(y);
    int order = 0;
    while (order == 0 && (x_left > 0 || y_left > 0)) {
        char of_x[QUOTED_MAX] = "\"";
        char of_y[QUOTED_MAX] = "\"";
        size_t x_length = x_left > 0 ? quote_one(&x, &x_left, of_x) : 1;
        size_t y_length = y_left > 0 ? quote_one(&y, &y_left, of_y) : 1;
        order = memcmp(of_x, of_y, x_length < y_length ? x_length : y_length);
    }
    return order;
}
