/* SPDX-License-Identifier: MIT
 *
 * name_filter.c: see name_filter.h.
 *
 * Every string is matched at most once with each expression. The locations are marked first; then
 * each sample is kept, shortened or dropped by the marks of its locations.
 *
 * Owns: nothing after a call.
 * Tested by: unit.cmd_filter, e2e.cpprof_reports.
 */
#include "profile/name_filter.h"

#include "base/regex.h"
#include "profile/profile_model.h"

#include <stdlib.h>
#include <string.h>

typedef struct matcher {
    const cp_profile *profile;
    cp_regex *regex;
    signed char *strings; /* per string: 0 = unknown, 1 = matches, -1 = does not */
} matcher;

/* What the expressions say of a location. */
enum { FOCUSED = 1, IGNORED = 2, HIDDEN = 4 };

static matcher new_matcher(const cp_profile *profile, cp_regex *regex)
{
    return (matcher){profile, regex, cp_heap_alloc(regex ? profile->strings.count : 1, 1)};
}

static bool string_matches(matcher *m, cp_string string)
{
    signed char *known = &m->strings[string];

    if (*known == 0) {
        *known = cp_regex_match(m->regex, cp_profile_text(m->profile, string),
                                cp_strings_length(&m->profile->strings, string))
                     ? 1
                     : -1;
    }
    return *known > 0;
}

static bool line_matches(matcher *m, const cp_line *line)
{
    const cp_function *function = &m->profile->functions[line->function];

    return string_matches(m, function->name) || string_matches(m, function->filename);
}

static bool program_matches(matcher *m, const cp_location *location)
{
    return location->mapping != CP_NO_MAPPING &&
           string_matches(m, m->profile->mappings[location->mapping].file);
}

static bool location_matches(matcher *m, const cp_location *location)
{
    for (uint32_t i = 0; i < location->line_count; i++) {
        if (line_matches(m, &location->lines[i])) {
            return true;
        }
    }
    return program_matches(m, location);
}

/* Keeps the lines of a location that match, or those that do not. */
static void choose_lines(matcher *m, cp_location *location, bool matching)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < location->line_count; i++) {
        if (line_matches(m, &location->lines[i]) == matching) {
            location->lines[kept++] = location->lines[i];
        }
    }
    location->line_count = kept;
}

/* Removes the lines that match. Returns whether the location matched. */
static bool hide(matcher *m, cp_location *location)
{
    if (!location_matches(m, location)) {
        return false;
    }
    if (program_matches(m, location)) {
        location->line_count = 0;
    } else {
        choose_lines(m, location, false);
    }
    return true;
}

/* Removes the lines that do not match, unless the program matches. */
static void show(matcher *m, cp_location *location)
{
    if (!program_matches(m, location)) {
        choose_lines(m, location, true);
    }
}

static unsigned char mark(matcher *m, cp_location *location, bool *matched)
{
    unsigned char marks = 0;

    if (m[CP_IGNORE].regex && location_matches(&m[CP_IGNORE], location)) {
        marks = IGNORED;
        matched[CP_IGNORE] = true;
    } else if (!m[CP_FOCUS].regex || location_matches(&m[CP_FOCUS], location)) {
        marks = FOCUSED;
        matched[CP_FOCUS] = true;
    }
    if (m[CP_HIDE].regex && hide(&m[CP_HIDE], location)) {
        matched[CP_HIDE] = true;
        marks |= location->line_count == 0 ? HIDDEN : 0;
    }
    if (m[CP_SHOW].regex) {
        show(&m[CP_SHOW], location);
        matched[CP_SHOW] = matched[CP_SHOW] || location->line_count > 0;
        marks |= location->line_count == 0 ? HIDDEN : 0;
    }
    return marks;
}

/* Removes the hidden locations of a sample. Returns whether the sample is kept. */
static bool keep_sample(const unsigned char *marks, cp_sample *sample, bool any_hidden)
{
    uint32_t shown = 0;
    bool focused = false;

    for (uint32_t i = 0; i < sample->location_count; i++) {
        if (marks[sample->locations[i]] & IGNORED) {
            return false;
        }
        focused = focused || marks[sample->locations[i]] & FOCUSED;
    }
    if (!focused || !any_hidden) {
        return focused;
    }
    for (uint32_t i = 0; i < sample->location_count; i++) {
        if (!(marks[sample->locations[i]] & HIDDEN)) {
            sample->locations[shown++] = sample->locations[i];
        }
    }
    sample->location_count = shown;
    return shown > 0;
}

static void filter(cp_profile *profile, matcher *m, bool *matched)
{
    unsigned char *marks = cp_heap_alloc(profile->location_count, 1);
    bool any_hidden = false;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < profile->location_count; i++) {
        marks[i] = mark(m, &profile->locations[i], matched);
        any_hidden = any_hidden || marks[i] & HIDDEN;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (keep_sample(marks, &profile->samples[i], any_hidden)) {
            profile->samples[kept++] = profile->samples[i];
        }
    }
    profile->sample_count = kept;
    free(marks);
}

/* ---- show_from ---- */

/* Cuts the lines above the outermost match. Returns whether the location matches. */
static bool cut_above(matcher *m, cp_location *location)
{
    if (program_matches(m, location)) {
        return true;
    }
    for (uint32_t i = location->line_count; i-- > 0;) {
        if (line_matches(m, &location->lines[i])) {
            location->line_count = i + 1;
            return true;
        }
    }
    return false;
}

static bool cut_sample_above(const unsigned char *matches, cp_sample *sample)
{
    while (sample->location_count && !matches[sample->locations[sample->location_count - 1]]) {
        sample->location_count--;
    }
    return sample->location_count > 0;
}

static void show_from(cp_profile *profile, matcher *m, bool *matched)
{
    unsigned char *matches = cp_heap_alloc(profile->location_count, 1);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < profile->location_count; i++) {
        matches[i] = cut_above(m, &profile->locations[i]);
        *matched = *matched || matches[i];
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (cut_sample_above(matches, &profile->samples[i])) {
            profile->samples[kept++] = profile->samples[i];
        }
    }
    profile->sample_count = kept;
    free(matches);
}

void cp_profile_filter_names(cp_profile *profile, cp_regex *const filters[CP_NAME_FILTERS],
                             bool keep_empty, bool matched[CP_NAME_FILTERS])
{
    matcher matchers[CP_NAME_FILTERS];

    memset(matched, 0, CP_NAME_FILTERS * sizeof *matched);
    for (int i = 0; i < CP_NAME_FILTERS; i++) {
        matchers[i] = new_matcher(profile, filters[i]);
    }
    if (!keep_empty || filters[CP_FOCUS] || filters[CP_IGNORE] || filters[CP_HIDE] ||
        filters[CP_SHOW]) {
        filter(profile, matchers, matched);
    }
    if (filters[CP_SHOW_FROM]) {
        show_from(profile, &matchers[CP_SHOW_FROM], &matched[CP_SHOW_FROM]);
    }
    for (int i = 0; i < CP_NAME_FILTERS; i++) {
        free(matchers[i].strings);
    }
}
