/* SPDX-License-Identifier: MIT
 *
 * label_filter.c: see label_filter.h.
 *
 * Owns: a filter's key, unit and expressions.
 * Tested by: unit.cmd_filter, e2e.cpprof_reports.
 */
#include "profile/label_filter.h"

#include "base/measurement.h"
#include "base/message.h"
#include "base/regex.h"
#include "profile/profile_model.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cp_label_filter {
    char *key; /* or NULL: any */
    bool is_range;
    double least, most; /* in the unit */
    char *unit;
    cp_regex **regexes;
    size_t regex_count;
} cp_label_filter;

/* ---- units ---- */

#define NO_UNIT UINT32_MAX

/* Replaces a unit that no sample has by one that the key implies. */
static void imply_unit(cp_label_units *units, cp_profile *profile, cp_string key, cp_string bytes)
{
    const char *name = cp_profile_text(profile, key);
    bool is_size = strcmp(name, "alignment") == 0 || strcmp(name, "request") == 0;

    if (units->of_key[key] == 0) {
        units->of_key[key] = is_size ? bytes : key;
    }
}

static void note_unit(cp_label_units *units, const cp_label *label)
{
    cp_string *known = &units->of_key[label->key];

    if (label->numeric && (*known == NO_UNIT || *known == 0)) {
        *known = label->text;
    }
}

void cp_label_units_init(cp_label_units *units, cp_profile *profile)
{
    cp_string bytes = cp_strings_put(&profile->strings, "bytes");
    uint32_t count = profile->strings.count;

    units->profile = profile;
    units->of_key = cp_heap_alloc(count, sizeof *units->of_key);
    memset(units->of_key, 0xff, count * sizeof *units->of_key); /* NO_UNIT */
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        for (uint32_t j = 0; j < profile->samples[i].label_count; j++) {
            note_unit(units, &profile->samples[i].labels[j]);
        }
    }
    for (uint32_t key = 0; key < count; key++) {
        imply_unit(units, profile, key, bytes);
    }
}

void cp_label_units_release(cp_label_units *units)
{
    free(units->of_key);
    units->of_key = NULL;
}

const char *cp_label_unit(const cp_label_units *units, cp_string key)
{
    cp_string unit = units->of_key[key];

    return unit == NO_UNIT ? "" : cp_profile_text(units->profile, unit);
}

/* ---- ranges ---- */

typedef struct quantity {
    const char *text;
    int64_t number;
    char unit[64];
} quantity;

/* Reads "[+-]DIGITS[LETTERS]" at *text and goes past it. False if there is none. */
static bool read_quantity(const char **text, quantity *q)
{
    const char *at = *text + (**text == '-' || **text == '+');
    size_t letters = 0;

    if (!isdigit((unsigned char)*at)) {
        return false;
    }
    q->text = *text;
    errno = 0;
    q->number = strtoll(*text, NULL, 10);
    at += strspn(at, "0123456789");
    while (isalpha((unsigned char)at[letters])) {
        letters++;
    }
    if (errno || letters >= sizeof q->unit) {
        return false;
    }
    memcpy(q->unit, at, letters);
    q->unit[letters] = '\0';
    *text = at + letters;
    return true;
}

/* Reads "N", ":N", "N:" or "N:M". */
static bool parse_range(const char *text, cp_label_filter *filter)
{
    bool open_below = *text == ':';
    quantity first, second;

    text += open_below;
    if (!read_quantity(&text, &first)) {
        return false;
    }
    const char *unit;
    double value = cp_measure_scale(first.number, first.unit, first.unit, &unit);
    filter->least = open_below ? -INFINITY : value;
    filter->most = value;
    if (!open_below && *text == ':') {
        text++;
        filter->most = INFINITY;
        if (read_quantity(&text, &second)) {
            const char *other;
            filter->most = cp_measure_scale(second.number, second.unit, unit, &other);
            if (strcmp(unit, other) != 0) {
                return false;
            }
        }
    }
    if (*text) {
        return false;
    }
    filter->unit = cp_heap_copy(unit, strlen(unit));
    return true;
}

/* ---- expressions ---- */

static int compile_expressions(const char *text, cp_label_filter *filter, cp_error *error)
{
    size_t count = 1;

    for (const char *at = text; *at; at++) {
        count += *at == ',';
    }
    filter->regexes = cp_heap_alloc(count, sizeof(cp_regex *));
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(text, ",");
        char *one = cp_heap_copy(text, length);
        filter->regexes[i] = cp_regex_compile(one, error);
        free(one);
        if (!filter->regexes[i]) {
            return -1;
        }
        filter->regex_count++;
        text += length + 1;
    }
    return 0;
}

cp_label_filter *cp_label_filter_compile(const char *text, cp_error *error)
{
    cp_label_filter *filter = cp_heap_alloc(1, sizeof *filter);
    const char *equals = strchr(text, '=');

    if (equals) {
        filter->key = cp_heap_copy(text, (size_t)(equals - text));
        text = equals + 1;
    }
    if (filter->key && !*filter->key) { /* "=WHAT" is about any key */
        free(filter->key);
        filter->key = NULL;
    }
    filter->is_range = parse_range(text, filter);
    if (!filter->is_range && compile_expressions(text, filter, error) < 0) {
        cp_label_filter_free(filter);
        return NULL;
    }
    return filter;
}

void cp_label_filter_free(cp_label_filter *filter)
{
    if (!filter) {
        return;
    }
    for (size_t i = 0; i < filter->regex_count; i++) {
        cp_regex_free(filter->regexes[i]);
    }
    free(filter->regexes);
    free(filter->key);
    free(filter->unit);
    free(filter);
}

/* ---- matching ---- */

/* Whether the filter is about this label: a number for a range, a text for expressions. */
static bool concerns(const cp_label_filter *filter, const cp_profile *profile,
                     const cp_label *label)
{
    return label->numeric == filter->is_range &&
           (!filter->key || strcmp(cp_profile_text(profile, label->key), filter->key) == 0);
}

static bool in_range(const cp_label_filter *filter, const cp_label_units *units,
                     const cp_label *label)
{
    const char *unit;
    double value =
        cp_measure_scale(label->number, cp_label_unit(units, label->key), filter->unit, &unit);

    return strcmp(unit, filter->unit) == 0 && value >= filter->least && value <= filter->most;
}

static bool text_matches(const cp_label_filter *filter, cp_regex *regex, const cp_profile *profile,
                         const cp_label *label)
{
    const char *value = cp_profile_text(profile, label->text);

    if (filter->key) {
        return cp_regex_match(regex, value, strlen(value));
    }
    char *both = cp_heap_printf("%s:%s", cp_profile_text(profile, label->key), value);
    bool matches = cp_regex_match(regex, both, strlen(both));
    free(both);
    return matches;
}

static bool range_matches(const cp_label_filter *filter, const cp_label_units *units,
                          const cp_sample *sample)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        if (concerns(filter, units->profile, &sample->labels[i]) &&
            in_range(filter, units, &sample->labels[i])) {
            return true;
        }
    }
    return false;
}

static bool expression_matches(const cp_label_filter *filter, cp_regex *regex,
                               const cp_profile *profile, const cp_sample *sample)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        if (concerns(filter, profile, &sample->labels[i]) &&
            text_matches(filter, regex, profile, &sample->labels[i])) {
            return true;
        }
    }
    return false;
}

static bool sample_matches(const cp_label_filter *filter, const cp_label_units *units,
                           const cp_sample *sample)
{
    if (filter->is_range) {
        return range_matches(filter, units, sample);
    }
    for (size_t i = 0; i < filter->regex_count; i++) {
        bool matches = expression_matches(filter, filter->regexes[i], units->profile, sample);

        if (matches == (filter->key != NULL)) {
            return matches; /* with a key one is enough, without one all are needed */
        }
    }
    return filter->key == NULL;
}

cp_label_matches cp_profile_filter_labels(cp_profile *profile, const cp_label_units *units,
                                          const cp_label_filter *focus,
                                          const cp_label_filter *ignore)
{
    cp_label_matches any = {false, false};
    uint32_t kept = 0;

    if (!focus && !ignore) {
        return any;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        bool focused = !focus || sample_matches(focus, units, sample);
        bool ignored = ignore && sample_matches(ignore, units, sample);

        any.focus = any.focus || focused;
        any.ignore = any.ignore || ignored;
        if (focused && !ignored) {
            profile->samples[kept++] = *sample;
        }
    }
    profile->sample_count = kept;
    return any;
}
