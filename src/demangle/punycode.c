/* SPDX-License-Identifier: MIT
 *
 * punycode.c: the decoder of RFC 3492, section 6.2.
 *
 * Zone: SIGNAL.
 * Tested by: unit.demangler
 */
#include "demangle/punycode.h"

#include <stdbool.h>
#include <string.h>

enum {
    BASE = 36,
    T_MIN = 1,
    T_MAX = 26,
    SKEW = 38,
    DAMP = 700,
    FIRST_BIAS = 72,
    MOST_CHARACTERS = 128 /* of a name; 512 bytes of the stack */
};

typedef struct decoded {
    uint32_t character[MOST_CHARACTERS];
    uint32_t count;
    uint32_t bias;
} decoded;

static uint32_t adapt(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / count;
    for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE) {
        delta /= BASE - T_MIN;
    }
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static int digit_value(char c)
{
    return pp_is_lower(c) ? c - 'a' : pp_is_digit(c) ? c - '0' + 26 : -1;
}

/* Reads a number of variable length; false if it is malformed, or too large for any character. */
static bool read_delta(const char **at, const char *end, uint32_t bias, uint32_t *delta)
{
    enum { MOST = 0x110000 * (MOST_CHARACTERS + 1) };
    uint64_t weight = 1;
    uint64_t sum = 0;
    for (uint32_t k = BASE; *at < end && weight < MOST; k += BASE) {
        int digit = digit_value(*(*at)++);
        uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
        if (digit < 0) {
            return false;
        }
        sum += (uint64_t)digit * weight;
        if (sum > MOST) {
            return false;
        }
        if ((uint32_t)digit < t) {
            *delta = (uint32_t)sum;
            return true;
        }
        weight *= BASE - t;
    }
    return false;
}

static bool insert(decoded *p, uint32_t at, uint32_t character)
{
    if (p->count == MOST_CHARACTERS || character > 0x10ffff ||
        (character >= 0xd800 && character < 0xe000)) {
        return false;
    }
    memmove(p->character + at + 1, p->character + at, (p->count - at) * sizeof *p->character);
    p->character[at] = character;
    p->count++;
    return true;
}

/* The ASCII characters come first, up to the last "_". Each other character follows as the distance
 * to its place. */
static bool decode(decoded *p, const char *at, size_t size)
{
    const char *end = at + size;
    size_t basic = size;
    p->count = 0;
    while (basic > 0 && at[basic - 1] != '_') {
        basic--;
    }
    for (uint32_t i = 0; i + 1 < basic; i++) {
        if (!insert(p, i, (unsigned char)at[i])) {
            return false;
        }
    }
    uint32_t position = 0;
    uint32_t character = 0x80;
    p->bias = FIRST_BIAS;
    for (at += basic; at < end; position++) {
        uint32_t delta = 0;
        if (!read_delta(&at, end, p->bias, &delta)) {
            return false;
        }
        p->bias = adapt(delta, p->count + 1, position == 0);
        character += (position + delta) / (p->count + 1);
        position = (position + delta) % (p->count + 1);
        if (!insert(p, position, character)) {
            return false;
        }
    }
    return true;
}

void pp_punycode_put(pp_mangled *m, const char *bytes, size_t size)
{
    decoded p;
    if (!decode(&p, bytes, size)) {
        pp_mangled_fail(m);
    }
    for (uint32_t i = 0; !m->failed && i < p.count; i++) {
        pp_mangled_put_character(m, p.character[i]);
    }
}
