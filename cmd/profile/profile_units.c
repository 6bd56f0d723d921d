/* SPDX-License-Identifier: MIT
 *
 * profile_units.c: see profile_units.h.
 *
 * Tested by: unit.cmd_merge.
 */
#include "profile/profile_units.h"

#include "base/measurement.h"
#include "base/message.h"
#include "profile/profile_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cp_profile_scale(cp_profile *profile, const double *ratios)
{
    uint32_t kept = 0;
    bool changes = false;

    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        changes = changes || ratios[i] != 1;
    }
    if (!changes) {
        return;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        cp_sample *sample = &profile->samples[i];
        bool keep = false;

        for (uint32_t j = 0; j < profile->sample_type_count; j++) {
            if (ratios[j] == 1) {
                continue;
            }
            sample->values[j] = cp_measure_truncate(round((double)sample->values[j] * ratios[j]));
            keep = keep || sample->values[j] != 0;
        }
        if (keep) {
            profile->samples[kept++] = *sample;
        }
    }
    profile->sample_count = kept;
}

/* Whether the types are equal but for a plural's s: "sample" and "samples" are one type. */
static bool similar_types(const char *left, const char *right)
{
    size_t a = strlen(left), b = strlen(right);

    a -= a && left[a - 1] == 's';
    b -= b && right[b - 1] == 's';
    return a == b && memcmp(left, right, a) == 0;
}

/* "samples/count, cpu/nanoseconds" */
static void list_types(const cp_profile *profile, char *text, size_t room)
{
    size_t length = 0;

    snprintf(text, room, "none");
    for (uint32_t i = 0; i < profile->sample_type_count && length < room; i++) {
        const cp_value_type *type = &profile->sample_types[i];

        length += (size_t)snprintf(text + length, room - length, "%s%.60s/%.60s", i ? ", " : "",
                                   cp_profile_text(profile, type->type),
                                   cp_profile_text(profile, type->unit));
    }
}

int cp_profile_refuse_types(const cp_profile *first, const cp_profile *other, cp_error *error)
{
    char firsts[256], others[256];

    list_types(first, firsts, sizeof firsts);
    list_types(other, others, sizeof others);
    return cp_fail(error,
                   "expected profiles of one kind, found the sample types %s in the first and %s "
                   "in the other; take two that were recorded with the same -e",
                   firsts, others);
}

static const cp_value_type *nth_type(const cp_profile *profile, int64_t index)
{
    return index < 0 ? &profile->period_type : &profile->sample_types[index];
}

/* Stores the finest unit of the sample type `index` among the profiles in *unit. -1: of the period
 * type. */
static int finest_unit(cp_profile *const *profiles, size_t count, int64_t index, const char **unit,
                       cp_error *error)
{
    const cp_value_type *first = nth_type(profiles[0], index);
    const char *type = cp_profile_text(profiles[0], first->type);

    *unit = cp_profile_text(profiles[0], first->unit);
    const char *ignored;
    for (size_t i = 1; i < count; i++) {
        const cp_value_type *other = nth_type(profiles[i], index);
        const char *other_type = cp_profile_text(profiles[i], other->type);
        const char *other_unit = cp_profile_text(profiles[i], other->unit);

        if (!similar_types(type, other_type) || !cp_measure_compatible(*unit, other_unit)) {
            return index < 0 ? cp_fail(error,
                                       "expected profiles of one kind, found period types "
                                       "%.100s/%.100s and %.100s/%.100s",
                                       type, *unit, other_type, other_unit)
                             : cp_profile_refuse_types(profiles[0], profiles[i], error);
        }
        if (cp_measure_scale(1, other_unit, *unit, &ignored) < 1) {
            type = other_type;
            *unit = other_unit;
        }
    }
    return 0;
}

static void apply_period_unit(cp_profile *profile, const char *unit)
{
    const char *ignored;
    double period = cp_measure_scale(
        profile->period, cp_profile_text(profile, profile->period_type.unit), unit, &ignored);

    profile->period = cp_measure_truncate(period);
    profile->period_type.unit = cp_strings_put(&profile->strings, unit);
}

static void apply_units(cp_profile *profile, const char *const *units)
{
    double *ratios = cp_heap_alloc(profile->sample_type_count, sizeof *ratios);
    const char *ignored;

    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        cp_string *unit = &profile->sample_types[i].unit;
        ratios[i] = cp_measure_scale(1, cp_profile_text(profile, *unit), units[i], &ignored);
        *unit = cp_strings_put(&profile->strings, units[i]);
    }
    cp_profile_scale(profile, ratios);
    free(ratios);
}

int cp_profile_align_units(cp_profile *const *profiles, size_t count, cp_error *error)
{
    uint32_t types = profiles[0]->sample_type_count;

    if (count < 2) {
        return 0;
    }
    for (size_t i = 1; i < count; i++) {
        if (profiles[i]->sample_type_count != types) {
            return cp_profile_refuse_types(profiles[0], profiles[i], error);
        }
    }
    const char **units = cp_heap_alloc(types, sizeof *units);
    const char *period_unit;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < types; i++) {
        status = finest_unit(profiles, count, i, &units[i], error);
    }
    if (status == 0) {
        status = finest_unit(profiles, count, -1, &period_unit, error);
    }
    for (size_t i = 0; status == 0 && i < count; i++) {
        apply_period_unit(profiles[i], period_unit);
        apply_units(profiles[i], units);
    }
    free(units);
    return status;
}
