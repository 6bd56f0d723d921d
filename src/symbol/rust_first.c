/* SPDX-License-Identifier: MIT
 *
 * rust_first.c: Rust's first scheme: C++'s, with escapes in the names and a hash as the last of them.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "symbol/rust_name.h"

#include <string.h>

enum { HASH_DIGITS = 16, TAIL = 3 + HASH_DIGITS + 1 /* "17h", the digits, "E" */ };

/* Behind the "E": the end, or what compilers append (".llvm.123"). */
static const char *end_of_name(const char *name)
{
    const char *end = NULL;
    for (const char *e = strstr(name, "E."); e != NULL; e = strstr(e + 1, "E."))
        end = e + 1;
    return end != NULL ? end : name + strlen(name);
}

bool pp_rust_is_first_scheme(const char *name)
{
    enum { LEAST_DIFFERENT = 5 /* a hash; "17hffffffffffffffff" is a name that looks like one */ };
    const char *end = end_of_name(name);
    if (strncmp(name, "_ZN", 3) != 0 || end - name <= 3 + TAIL || end[-1] != 'E' ||
        strncmp(end - TAIL, "17h", 3) != 0)
        return false;
    unsigned seen = 0;
    int different = 0;
    for (const char *digit = end - 1 - HASH_DIGITS; digit < end - 1; digit++) {
        if (pp_hex_value(*digit) < 0)
            return false;
        different += (seen >> pp_hex_value(*digit) & 1) == 0;
        seen |= 1U << pp_hex_value(*digit);
    }
    return different >= LEAST_DIFFERENT;
}

/* "$LT$" and the like: how long the escape is, and what it stands for; 0 if it is none. */
static size_t read_escape(const char *from, size_t left, char *meaning)
{
    static const char escapes[][7] = {"$C$,",  "$SP$@", "$BP$*", "$RF$&",
                                      "$LT$<", "$GT$>", "$LP$(", "$RP$)"};
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        size_t length = strlen(escapes[i]) - 1;
        if (length <= left && strncmp(from, escapes[i], length) == 0) {
            *meaning = escapes[i][length];
            return length;
        }
    }
    if (left < 5 || from[1] != 'u' || from[4] != '$' || pp_hex_value(from[2]) < 0 ||
        pp_hex_value(from[3]) < 0)
        return 0;
    int value = pp_hex_value(from[2]) * 16 + pp_hex_value(from[3]);
    *meaning = (char)value;
    return value >= ' ' && value < 0x7f ? 5 : 0;
}

/* One step of what one name of the path says; how many characters it took, all where an escape is unknown. */
static size_t put_escaped(pp_mangled *m, const char *from, size_t left)
{
    char c = *from;
    size_t taken = 1;
    if (c == '$') {
        taken = read_escape(from, left, &c);
        if (taken == 0) {
            pp_mangled_put(m, from, left);
            return left;
        }
    } else if (c == '.' && left > 1 && from[1] == '.') {
        pp_mangled_put_text(m, "::");
        return 2;
    }
    pp_mangled_put(m, &c, 1);
    return taken;
}

bool pp_rust_first_scheme(pp_mangled *m)
{
    const char *end = end_of_name(m->start) - TAIL;
    m->at = m->start + 3;
    while (!m->failed && m->at < end) {
        uint32_t length = pp_mangled_number(m);
        if (length > 0 && pp_mangled_take(m, "_")) /* taken for a separator, as pprof does */
            length--;
        const char *name = pp_mangled_bytes(m, length);
        if (name == NULL || m->at > end)
            return pp_mangled_fail(m);
        if (m->used > 0)
            pp_mangled_put_text(m, "::");
        if (length > 1 && name[0] == '_' && name[1] == '$')
            name++;
        for (const char *after = m->at; name < after;)
            name += put_escaped(m, name, (size_t)(after - name));
    }
    return !m->failed && m->used > 0;
}
