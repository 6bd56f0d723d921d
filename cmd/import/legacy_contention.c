/* SPDX-License-Identifier: MIT
 *
 * legacy_contention.c: contention and mutex profiles as text; see legacy_lines.h.
 *
 *   --- contention:                     or --- mutex: or --- contentionz 1 ---
 *   cycles/second = 3000000000
 *   sampling period = 1
 *   CYCLES COUNT @ 0x... 0x...
 *
 * Tested by: unit.cmd_legacy_text, fuzz.legacy_text.
 */
#include "import/legacy_lines.h"

#include "base/measurement.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct contention {
    cp_legacy *legacy;
    int64_t cycles_per_second;
} contention;

static bool is_attribute(const char *line, const char *name, size_t length)
{
    while (length && isspace((unsigned char)line[length - 1])) {
        length--;
    }
    return strlen(name) == length && strncmp(line, name, length) == 0;
}

static int put_attribute(contention *c, const char *equals)
{
    cp_legacy *legacy = c->legacy;
    size_t length = (size_t)(equals - legacy->line);
    const char *value = equals + 1;

    int64_t number;
    if (is_attribute(legacy->line, "discarded samples", length)) {
        return 0;
    }
    if (is_attribute(legacy->line, "format", length) && strstr(value, "java")) {
        return cp_legacy_fail(legacy, "a profile of a native program (one of Java is read by "
                                      "`go tool pprof -proto`)");
    }
    if (!cp_legacy_number(&value, &number) || *value) {
        return cp_legacy_fail(legacy, "a number after the =");
    }
    if (is_attribute(legacy->line, "cycles/second", length)) {
        c->cycles_per_second = number;
    } else if (is_attribute(legacy->line, "sampling period", length)) {
        legacy->profile->period = number;
    } else if (is_attribute(legacy->line, "ms since reset", length)) {
        legacy->profile->duration_nanos = (int64_t)((uint64_t)number * 1000000);
    } else {
        return cp_legacy_fail(legacy, "cycles/second, sampling period, ms since reset or "
                                      "discarded samples before the =");
    }
    return 0;
}

/* Reads the attributes, up to the first row. Returns 1 if there is a row, 0 at the end, or -1. */
static int read_attributes(contention *c)
{
    cp_legacy *legacy = c->legacy;

    while (cp_legacy_next(legacy)) {
        const char *equals = strchr(legacy->line, '=');

        if (cp_legacy_is_blank(legacy)) {
            continue;
        }
        if (cp_legacy_begins(legacy, "---")) {
            return 0;
        }
        if (!equals) {
            return 1;
        }
        if (put_attribute(c, equals) < 0) {
            return -1;
        }
    }
    return 0;
}

static int add_row(const contention *c)
{
    cp_legacy *legacy = c->legacy;
    const char *text = legacy->line;
    int64_t period = legacy->profile->period, delay, count;

    if (!cp_legacy_number(&text, &delay) || !cp_legacy_number(&text, &count) ||
        !cp_legacy_skip(&text, "@")) {
        return cp_legacy_fail(legacy, "CYCLES COUNT @ ADDRESSES");
    }
    cp_sample *sample = cp_legacy_add_sample(legacy);
    if (period > 0 && c->cycles_per_second > 0) {
        double cycles_per_nano = (double)c->cycles_per_second / 1e9;
        delay = cp_measure_truncate((double)delay * (double)period / cycles_per_nano);
    }
    sample->values[0] = period > 0 ? (int64_t)((uint64_t)count * (uint64_t)period) : count;
    sample->values[1] = delay;
    cp_legacy_add_stack(legacy, sample, text);
    return 0;
}

int cp_legacy_read_contention(cp_legacy *legacy)
{
    contention c = {.legacy = legacy};

    cp_profile_add_type(legacy->profile, "contentions", "count");
    cp_profile_add_type(legacy->profile, "delay", "nanoseconds");
    legacy->profile->period_type = legacy->profile->sample_types[0];
    legacy->profile->period = 1;
    int more = read_attributes(&c);
    if (more <= 0) {
        return more;
    }
    do {
        if (cp_legacy_begins(legacy, "---")) {
            break;
        }
        if (!cp_legacy_is_blank(legacy) && add_row(&c) < 0) {
            return -1;
        }
    } while (cp_legacy_next(legacy));
    return 0;
}
