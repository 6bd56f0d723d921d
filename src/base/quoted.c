/* SPDX-License-Identifier: MIT
 *
 * quoted.c: decides which characters need an escape, and writes them.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "base/quoted.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

enum { UTF8_MAX = 4 /* bytes of a character */ };

typedef struct range {
    uint32_t first, last;
} range;

/* Unicode 15: categories Cc, Cf, Zs (except the space), Zl, Zp, Co; and noncharacters. */
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

/* Returns the letter after the backslash, or 0. */
static char short_escape(uint32_t character)
{
    static const char from[] = "\a\b\f\n\r\t\v\\\"";
    static const char to[] = "abfnrtv\\\"";
    const char *at = character != 0 && character < 0x80 ? strchr(from, (char)character) : NULL;
    return to[at != NULL ? (size_t)(at - from) : sizeof to - 1];
}

typedef struct quoted {
    char *bytes; /* PP_QUOTED_MAX of them */
    size_t length;
} quoted;

static void put(quoted *to, const char *bytes, size_t length)
{
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void put_hex(quoted *to, const char *prefix, uint32_t number, unsigned digits)
{
    put(to, prefix, 2);
    for (unsigned i = 0; i < digits; i++) {
        put(to, &"0123456789abcdef"[number >> (4 * (digits - 1 - i)) & 15], 1);
    }
}

static void put_escaped(quoted *to, uint32_t character)
{
    char letter = short_escape(character);
    if (letter != '\0') {
        put(to, (const char[]){'\\', letter}, 2);
    } else if (character < 0x80) {
        put_hex(to, "\\x", character, 2);
    } else if (character < 0x10000) {
        put_hex(to, "\\u", character, 4);
    } else {
        put_hex(to, "\\U", character, 8);
    }
}

static void put_character(quoted *to, const char *text, size_t size)
{
    uint32_t character = pp_utf8_character(text, size);
    if (is_printable(character) && short_escape(character) == '\0') {
        put(to, text, size);
    } else {
        put_escaped(to, character);
    }
}

size_t pp_quoted_next(const char *text, char bytes[PP_QUOTED_MAX], size_t *length)
{
    quoted to = {.bytes = bytes};
    size_t size = 0;
    if (*text == '\0') {
        put(&to, "\"", 1);
    } else {
        size = pp_utf8_length(text, strnlen(text, UTF8_MAX));
        if (size == 0) {
            put_hex(&to, "\\x", (uint8_t)*text, 2);
            size = 1;
        } else {
            put_character(&to, text, size);
        }
    }
    *length = to.length;
    return size;
}

/* The text of one character is never the beginning of another character's text. */
int pp_quoted_compare(const char *x, const char *y)
{
    char a[PP_QUOTED_MAX];
    char b[PP_QUOTED_MAX];
    size_t a_length = 0;
    size_t b_length = 0;
    for (;;) {
        size_t size = pp_quoted_next(x, a, &a_length);
        y += pp_quoted_next(y, b, &b_length);
        x += size;
        if (a_length != b_length || memcmp(a, b, a_length) != 0) {
            return memcmp(a, b, a_length < b_length ? a_length : b_length);
        }
        if (size == 0) {
            return 0;
        }
    }
}
