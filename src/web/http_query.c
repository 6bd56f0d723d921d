/* SPDX-License-Identifier: MIT
 *
 * http_query.c: see http_query.h.
 *
 * Zone: NORMAL.
 */
#include "web/http_query.h"

#include <string.h>

/* ---- escapes ---- */

/* The value of a digit in any base up to 16; 16 if it is none. */
static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Reads one character at `text`, of which `left` bytes are left. Returns how many bytes it is; 0 if
 * it is no character. */
static size_t decode_one(const char *text, size_t left, bool is_query, char *c)
{
    *c = *text;
    if (*text == '+' && is_query) {
        *c = ' ';
    }
    if (*text != '%') {
        return *c != '\0';
    }
    if (left < 3 || digit_of(text[1]) > 15 || digit_of(text[2]) > 15) {
        return 0;
    }
    *c = (char)(digit_of(text[1]) << 4 | digit_of(text[2]));
    return *c != '\0' ? 3 : 0;
}

/* 0 or more: the length of the decoded text, of which at most capacity - 1 bytes are stored; -1: it
 * cannot be decoded. */
static long decode(const char *text, size_t length, bool is_query, char *out, size_t capacity)
{
    size_t stored = 0;
    long count = 0;
    for (size_t at = 0; at < length; count++) {
        char c = '\0';
        size_t read = decode_one(text + at, length - at, is_query, &c);
        if (read == 0) {
            out[0] = '\0';
            return -1;
        }
        if (stored + 1 < capacity) {
            out[stored++] = c;
        }
        at += read;
    }
    out[stored] = '\0';
    return count;
}

bool pp_http_decode(const char *text, size_t length, bool is_query, char *out, size_t capacity)
{
    long count = decode(text, length, is_query, out, capacity);
    bool fits = count >= 0 && (size_t)count < capacity;
    if (!fits) {
        out[0] = '\0';
    }
    return fits;
}

/* ---- parameters ---- */

static bool is_key(const char *text, size_t length, const char *key)
{
    char decoded[PP_HTTP_VALUE_MAX];
    return pp_http_decode(text, length, true, decoded, sizeof decoded) && strcmp(decoded, key) == 0;
}

bool pp_http_query_get(const char *query, const char *key, char value[PP_HTTP_VALUE_MAX])
{
    value[0] = '\0';
    while (query != NULL && *query != '\0') {
        size_t length = strcspn(query, "&");
        const char *equals = memchr(query, '=', length);
        size_t key_length = equals != NULL ? (size_t)(equals - query) : length;
        const char *text = equals != NULL ? equals + 1 : query + length;
        bool is_valid = memchr(query, ';', length) == NULL && is_key(query, key_length, key);
        if (is_valid &&
            decode(text, (size_t)(query + length - text), true, value, PP_HTTP_VALUE_MAX) >= 0) {
            return true;
        }
        query += length + (query[length] == '&');
    }
    return false;
}

/* ---- numbers ---- */

bool pp_http_number(const char *text, int64_t *number)
{
    bool is_negative = *text == '-';
    int64_t value = 0;
    bool fits = true;
    text += *text == '-' || *text == '+';
    size_t digits = strspn(text, "0123456789");
    *number = 0;
    if (digits == 0 || text[digits] != '\0') {
        return false;
    }
    for (; *text != '\0' && fits; text++) {
        int64_t digit = *text - '0';
        fits = !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, is_negative ? -digit : digit, &value);
    }
    *number = fits ? value : is_negative ? INT64_MIN : INT64_MAX;
    return fits;
}

bool pp_http_query_number(const char *query, const char *key, int64_t *number)
{
    char value[PP_HTTP_VALUE_MAX];
    *number = 0;
    return pp_http_query_get(query, key, value) && pp_http_number(value, number);
}

/* The base of a number by its first characters; *skip: how many of these only say so. */
static unsigned base_of(const char *text, size_t length, size_t *skip)
{
    *skip = 0;
    if (length < 2 || text[0] != '0') {
        return 10;
    }
    *skip = 2;
    switch (text[1] | 0x20) {
    case 'x':
        return 16;
    case 'b':
        return 2;
    case 'o':
        return 8;
    default:
        *skip = 1;
        return 8;
    }
}

bool pp_http_parse_pc(const char *text, size_t length, uint64_t *pc)
{
    size_t at = 0;
    unsigned base = base_of(text, length, &at);
    uint64_t value = 0;
    bool is_good = at < length;
    for (; at < length && is_good; at++) {
        unsigned digit = digit_of(text[at]);
        is_good = digit < base && !__builtin_mul_overflow(value, base, &value) &&
                  !__builtin_add_overflow(value, digit, &value);
    }
    *pc = is_good ? value : 0;
    return is_good;
}
