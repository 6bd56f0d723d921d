/* SPDX-License-Identifier: MIT
 *
 * measurement.c: see measurement.h.
 */
#include "base/measurement.h"

#include "base/pool.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ALIASES 3

typedef struct unit {
    const char *name; /* as printed */
    double factor;    /* in base units */
    const char *aliases[MAX_ALIASES + 1];
} unit;

/* The units of a family have rising factors: the search for the largest fitting unit needs that. */
typedef struct family {
    const char *base_name;
    double base_factor;
    unit units[10];
} family;

static const family families[] = {
    {"B",
     1,
     {{"B", 0x1p0, {"b", "byte"}},
      {"kB", 0x1p10, {"kb", "kbyte", "kilobyte"}},
      {"MB", 0x1p20, {"mb", "mbyte", "megabyte"}},
      {"GB", 0x1p30, {"gb", "gbyte", "gigabyte"}},
      {"TB", 0x1p40, {"tb", "tbyte", "terabyte"}},
      {"PB", 0x1p50, {"pb", "pbyte", "petabyte"}}}},
    {"s",
     1e9,
     {{"ns", 1, {"ns", "nanosecond"}},
      {"us", 1e3, {"\u03bcs", "us", "microsecond"}},
      {"ms", 1e6, {"ms", "millisecond"}},
      {"s", 1e9, {"s", "sec", "second"}},
      {"hrs", 3600e9, {"hour", "hr"}}}},
    {"GCU",
     1,
     {{"n*GCU", 1e-9, {"nanogcu"}},
      {"u*GCU", 1e-6, {"microgcu"}},
      {"m*GCU", 1e-3, {"milligcu"}},
      {"GCU", 1, {"gcu"}},
      {"k*GCU", 1e3, {"kilogcu"}},
      {"M*GCU", 1e6, {"megagcu"}},
      {"G*GCU", 1e9, {"gigagcu"}},
      {"T*GCU", 1e12, {"teragcu"}},
      {"P*GCU", 1e15, {"petagcu"}}}},
};

#define FAMILIES (sizeof families / sizeof *families)

/* Longer than any alias with its plural. */
#define MAX_UNIT_BYTES 16

/* Writes the unit in lower case, without the s of a plural: "Bytes" becomes "byte"; "ns" stays. */
static bool normalize(const char *u, char *normal)
{
    size_t length = strlen(u);

    if (length >= MAX_UNIT_BYTES) {
        return false;
    }
    for (size_t i = 0; i <= length; i++) {
        normal[i] = (char)tolower((unsigned char)u[i]);
    }
    if (length > 2 && normal[length - 1] == 's') {
        normal[length - 1] = '\0';
    }
    return true;
}

static const unit *find_unit(const family *f, const char *name)
{
    char normal[MAX_UNIT_BYTES];

    if (!normalize(name, normal)) {
        return NULL;
    }
    for (const unit *u = f->units; u < f->units + 10 && u->name; u++) {
        for (const char *const *alias = u->aliases; *alias; alias++) {
            if (strcmp(*alias, normal) == 0) {
                return u;
            }
        }
    }
    return NULL;
}

static const unit *largest_fitting(const family *f, double value)
{
    const unit *best = NULL;

    for (const unit *u = f->units; u < f->units + 10 && u->name; u++) {
        if (value / u->factor >= 1.0) {
            best = u;
        }
    }
    return best;
}

static double convert(const family *f, double value, const char *to, const char **name)
{
    const unit *u;

    if (strcmp(to, CP_UNIT_MINIMUM) == 0 || strcmp(to, "auto") == 0) {
        u = largest_fitting(f, value);
    } else {
        u = find_unit(f, to);
    }
    *name = u ? u->name : f->base_name;
    return value / (u ? u->factor : f->base_factor);
}

static bool is_silent(const char *u)
{
    static const char *const silent[] = {"count", "sample", "unit", CP_UNIT_MINIMUM, "auto"};

    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        if (strcmp(u, silent[i]) == 0) {
            return true;
        }
    }
    return false;
}

double cp_measure_scale(int64_t value, const char *from, const char *to, const char **u)
{
    if (value < 0 && value != INT64_MIN) {
        return -cp_measure_scale(-value, from, to, u);
    }
    for (size_t i = 0; i < FAMILIES; i++) {
        const unit *source = find_unit(&families[i], from);
        if (source) {
            return convert(&families[i], (double)value * source->factor, to, u);
        }
    }
    *u = is_silent(to) ? "" : to;
    return (double)value;
}

char *cp_measure_label(int64_t value, const char *from, const char *to)
{
    char number[512]; /* the largest double has 309 digits */
    const char *u;
    double scaled = cp_measure_scale(value, from, to, &u);
    int length = snprintf(number, sizeof number, "%.2f", scaled);

    if (strcmp(number + length - 3, ".00") == 0) {
        number[length - 3] = '\0';
    }
    if (strcmp(number, "-0") == 0) {
        memcpy(number, "0", 2);
    }
    if (strcmp(number, "0") == 0) {
        u = "";
    }
    size_t room = strlen(number) + strlen(u) + 1;
    char *text = cp_heap_alloc(room, 1);
    snprintf(text, room, "%s%s", number, u);
    return text;
}

void cp_measure_percent(int64_t value, int64_t total, char *text)
{
    double percent = total ? fabs((double)value / (double)total) * 100 : 0;

    if (percent >= 99.95 && percent <= 100.05) {
        snprintf(text, CP_PERCENT_BYTES, "  100%%");
    } else if (percent >= 1.0) {
        snprintf(text, CP_PERCENT_BYTES, "%5.2f%%", percent);
    } else {
        snprintf(text, CP_PERCENT_BYTES, "%5.2g%%", percent);
    }
}

bool cp_measure_compatible(const char *left, const char *right)
{
    if (strcmp(left, right) == 0) {
        return true;
    }
    for (size_t i = 0; i < FAMILIES; i++) {
        if (find_unit(&families[i], left) && find_unit(&families[i], right)) {
            return true;
        }
    }
    return false;
}

int64_t cp_measure_abs(int64_t value)
{
    return value < 0 ? (int64_t)(0 - (uint64_t)value) : value;
}

int64_t cp_measure_truncate(double value)
{
    if (value >= -9223372036854775808.0 && value < 9223372036854775808.0) {
        return (int64_t)value;
    }
#ifdef __x86_64__
    return INT64_MIN;
#else
    return isnan(value) ? 0 : value < 0 ? INT64_MIN : INT64_MAX;
#endif
}
