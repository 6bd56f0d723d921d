/* SPDX-License-Identifier: MIT
 *
 * rust_first.c: Rust's first scheme: C++'s scheme, with escapes in the names and a hash as the last
 * name.
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler, e2e.names
 */
#include "demangle/rust_name.h"

#include <string.h>

enum { HASH_DIGITS = 16, TAIL = 3 + HASH_DIGITS + 1 /* "17h", the digits, "E" */ };

/* Returns the end after the last "E": a suffix of compilers (".llvm.123"), or the terminator. */
static const char *end_of_name(const char *name)
{
    const char *end = NULL;
    for (const char *e = strstr(name, "E."); e != NULL; e = strstr(e + 1, "E.")) {
        end = e + 1;
    }
    return end != NULL ? end : name + strlen(name);
}

bool pp_rust_is_first_scheme(const char *name)
{
    enum { LEAST_DIFFERENT = 5 /* digits of a hash; "17hffffffffffffffff" is an ordinary name */ };
    const char *end = end_of_name(name);
    if (strncmp(name, "_ZN", 3) != 0 || end - name <= 3 + TAIL || end[-1] != 'E' ||
        strncmp(end - TAIL, "17h", 3) != 0) {
        return false;
    }
    unsigned seen = 0;
    int different = 0;
    for (const char *digit = end - 1 - HASH_DIGITS; digit < end - 1; digit++) {
        if (pp_hex_value(*digit) < 0) {
            return false;
        }
        different += (seen >> pp_hex_value(*digit) & 1) == 0;
        seen |= 1U << pp_hex_value(*digit);
    }
    return different >= LEAST_DIFFERENT;
}

/* Reads "$u20$": the number of a printable character; 0 if it is malformed. */
static uint32_t read_number_escape(const char *from, size_t left, size_t *length)
{
    enum { MOST_DIGITS = 6 };
    uint32_t value = 0;
    size_t at = 2;
    if (left < 2 || from[1] != 'u') {
        return 0;
    }
    for (; at < left && at < 2 + MOST_DIGITS && pp_hex_value(from[at]) >= 0; at++) {
        value = value * 16 + (uint32_t)pp_hex_value(from[at]);
    }
    bool is_character = value >= 0xa0 ? value < 0xd800 || (value >= 0xe000 && value <= 0x10ffff)
                                      : value >= ' ' && value < 0x7f;
    *length = at + 1;
    return at < left && from[at] == '$' && is_character ? value : 0;
}

/* Reads "$LT$" and the like: returns the character, and stores the escape's length; 0 if
 * unknown. */
static uint32_t read_escape(const char *from, size_t left, size_t *length)
{
    static const char escapes[][7] = {"$C$,",  "$SP$@", "$BP$*", "$RF$&",
                                      "$LT$<", "$GT$>", "$LP$(", "$RP$)"};
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        *length = strlen(escapes[i]) - 1;
        if (*length <= left && strncmp(from, escapes[i], *length) == 0) {
            return (unsigned char)escapes[i][*length];
        }
    }
    return read_number_escape(from, left, length);
}

/* Writes the next piece of one name. Returns its length, or `left` if an escape is unknown. */
static size_t put_escaped(pp_mangled *m, const char *from, size_t left)
{
    size_t length = 1;
    uint32_t character = 0;
    if (*from == '$') {
        character = read_escape(from, left, &length);
        length = character != 0 ? length : left;
    } else if (*from == '.' && left > 1 && from[1] == '.') {
        pp_mangled_put_text(m, "::");
        return 2;
    }
    if (character != 0) {
        pp_mangled_put_character(m, character);
    } else {
        pp_mangled_put(m, from, length);
    }
    return length;
}

bool pp_rust_first_scheme(pp_mangled *m)
{
    const char *end = end_of_name(m->start) - TAIL;
    m->at = m->start + 3;
    while (!m->failed && m->at < end) {
        uint32_t length = pp_mangled_number(m);
        if (length > 0 && pp_mangled_take(m, "_")) { /* pprof takes it for a separator, too */
            length--;
        }
        const char *name = pp_mangled_bytes(m, length);
        if (name == NULL || m->at > end) {
            return pp_mangled_fail(m);
        }
        if (m->used > 0) {
            pp_mangled_put_text(m, "::");
        }
        if (length > 1 && name[0] == '_' && name[1] == '$') {
            name++;
        }
        for (const char *after = m->at; name < after;) {
            name += put_escaped(m, name, (size_t)(after - name));
        }
    }
    return !m->failed && m->used > 0;
}
