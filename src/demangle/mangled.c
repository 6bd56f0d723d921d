/* SPDX-License-Identifier: MIT
 *
 * mangled.c: the reader and the writer of the demanglers (contract in the header).
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler
 */
#include "demangle/mangled.h"

#include "base/text.h"

#include <string.h>

void pp_mangled_begin(pp_mangled *m, const char *name, size_t stack)
{
    m->start = m->at = name;
    m->floor = (uintptr_t)__builtin_frame_address(0) - stack;
    m->steps = 0;
    m->failed = m->silent = false;
    m->used = 0;
}

bool pp_mangled_fail(pp_mangled *m)
{
    m->failed = true;
    m->at = "";
    return false;
}

bool pp_mangled_enter(pp_mangled *m)
{
    if ((uintptr_t)__builtin_frame_address(0) < m->floor || ++m->steps > PP_MANGLED_STEPS) {
        return pp_mangled_fail(m);
    }
    return !m->failed;
}

/* ---- reading ---- */

char pp_mangled_next(pp_mangled *m)
{
    char next = *m->at;
    m->at += next != '\0';
    return next;
}

bool pp_mangled_take(pp_mangled *m, const char *wanted)
{
    size_t length = strlen(wanted);
    if (strncmp(m->at, wanted, length) != 0) {
        return false;
    }
    m->at += length;
    return true;
}

void pp_mangled_expect(pp_mangled *m, char wanted)
{
    if (pp_mangled_next(m) != wanted) {
        pp_mangled_fail(m);
    }
}

bool pp_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool pp_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

bool pp_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

int pp_hex_value(char c)
{
    return pp_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint32_t pp_mangled_number(pp_mangled *m)
{
    enum { MOST = 1 << 24 }; /* longer than any symbol */
    uint32_t number = 0;
    if (!pp_is_digit(pp_mangled_peek(m))) {
        pp_mangled_fail(m);
    }
    while (pp_is_digit(pp_mangled_peek(m)) && number < MOST) {
        number = number * 10 + (uint32_t)(pp_mangled_next(m) - '0');
    }
    return number;
}

const char *pp_mangled_bytes(pp_mangled *m, uint32_t size)
{
    const char *bytes = m->at;
    if (strnlen(bytes, size) < size) {
        pp_mangled_fail(m);
        return NULL;
    }
    m->at += size;
    return bytes;
}

/* ---- writing ---- */

void pp_mangled_put(pp_mangled *m, const char *bytes, size_t size)
{
    if (m->silent || m->failed) {
        return;
    }
    if (size > PP_MANGLED_TEXT - m->used) {
        pp_mangled_fail(m);
        return;
    }
    memcpy(m->text + m->used, bytes, size);
    m->used += (uint32_t)size;
}

void pp_mangled_put_text(pp_mangled *m, const char *text)
{
    pp_mangled_put(m, text, strlen(text));
}

void pp_mangled_put_number(pp_mangled *m, uint64_t number)
{
    char digits[PP_DECIMAL_BYTES];
    pp_mangled_put_text(m, pp_decimal(number, digits));
}

void pp_mangled_put_span(pp_mangled *m, pp_span span)
{
    pp_mangled_put(m, m->text + span.at, span.size);
}

void pp_mangled_put_character(pp_mangled *m, uint32_t c)
{
    char bytes[4];
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i > 1; i--, c >>= 6) {
        bytes[i - 1] = (char)(0x80 | (c & 0x3f));
    }
    bytes[0] = (char)(leads[size] | c);
    pp_mangled_put(m, bytes, size);
}
