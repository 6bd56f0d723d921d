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

static void add_hex(pp_text_stream *stream, const char *prefix, uint32_t number, unsigned digits)
{
    char hex[8];
    for (unsigned i = 0; i < digits; i++) {
        hex[i] = "0123456789abcdef"[number >> (4 * (digits - 1 - i)) & 15];
    }
    pp_text_stream_add(stream, prefix);
    pp_text_stream_bytes(stream, hex, digits);
}

static void add_escaped(pp_text_stream *stream, uint32_t character)
{
    char letter = short_escape(character);
    if (letter != '\0') {
        pp_text_stream_bytes(stream, (const char[]){'\\', letter}, 2);
    } else if (character < 0x80) {
        add_hex(stream, "\\x", character, 2);
    } else if (character < 0x10000) {
        add_hex(stream, "\\u", character, 4);
    } else {
        add_hex(stream, "\\U", character, 8);
    }
}

void pp_text_stream_quoted(pp_text_stream *stream, const char *text)
{
    size_t left = strlen(text);
    pp_text_stream_add(stream, "\"");
    while (left > 0) {
        const uint8_t *bytes = (const uint8_t *)text;
        size_t size = pp_utf8_length(bytes, left);
        uint32_t character = size > 0 ? pp_utf8_character(bytes, size) : bytes[0];
        if (size == 0) {
            add_hex(stream, "\\x", character, 2);
            size = 1;
        } else if (is_printable(character) && short_escape(character) == '\0') {
            pp_text_stream_bytes(stream, text, size);
        } else {
            add_escaped(stream, character);
        }
        text += size;
        left -= size;
    }
    pp_text_stream_add(stream, "\"");
}
