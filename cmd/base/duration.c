/* SPDX-License-Identifier: MIT
 *
 * duration.c: see duration.h.
 *
 * Tested by: unit.cmd_reports.
 */
#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends value / unit with up to `digits` decimals, without zeros at the end. */
static int put_fraction(char *text, uint64_t value, uint64_t unit, int digits)
{
    int length = sprintf(text, "%" PRIu64, value / unit);

    if (value % unit == 0) {
        return length;
    }
    length += sprintf(text + length, ".%0*" PRIu64, digits, value % unit);
    while (text[length - 1] == '0') {
        length--;
    }
    return length;
}

static int put_below_a_second(char *text, uint64_t value)
{
    if (value == 0) {
        return sprintf(text, "0s");
    }
    if (value < 1000) {
        return sprintf(text, "%" PRIu64 "ns", value);
    }
    if (value < 1000000) {
        int length = put_fraction(text, value, 1000, 3);
        return length + sprintf(text + length, "\u00b5s");
    }
    int length = put_fraction(text, value, 1000000, 6);
    return length + sprintf(text + length, "ms");
}

void cp_duration_text(int64_t nanos, char *text)
{
    const uint64_t second = 1000000000;
    uint64_t value = nanos < 0 ? 0 - (uint64_t)nanos : (uint64_t)nanos;

    if (nanos < 0) {
        *text++ = '-';
    }
    if (value < second) {
        put_below_a_second(text, value);
        return;
    }
    uint64_t minutes = value / second / 60;
    if (minutes >= 60) {
        text += sprintf(text, "%" PRIu64 "h", minutes / 60);
    }
    if (minutes) {
        text += sprintf(text, "%" PRIu64 "m", minutes % 60);
    }
    text += put_fraction(text, value % (60 * second), second, 9);
    sprintf(text, "s");
}

/* The length of a unit's name, and how many seconds it has; 0 if the text begins with none. */
static size_t read_unit(const char *text, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].name);

        if (strncmp(text, units[i].name, length) == 0) {
            *seconds = units[i].seconds;
            return length;
        }
    }
    return 0;
}

bool cp_duration_read(const char *text, double *seconds)
{
    bool is_first = true;
    double sum = 0;

    do {
        /* strtod() also accepts "0x1p3", "inf", blanks and signs. */
        size_t digits = strspn(text, "0123456789.");
        char *end;
        double number = strtod(text, &end), unit = 1;

        if (digits == 0 || end != text + digits) {
            return false;
        }
        text = end + read_unit(end, &unit);
        if (text == end && (*end || !is_first)) {
            return false;
        }
        sum += number * unit;
        is_first = false;
    } while (*text);
    *seconds = sum;
    return true;
}
