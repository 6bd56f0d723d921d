/* SPDX-License-Identifier: MIT
 *
 * report_load.c: see report_load.h.
 *
 * Owns: the profiles that were read, until they are merged.
 * Tested by: e2e.cpprof_top, e2e.cpprof_reports.
 */
#include "report/report_load.h"

#include "base/message.h"
#include "base/meter.h"
#include "import/profile_file.h"
#include "import/profile_sum.h"
#include "profile/profile_filter.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "profile/profile_units.h"

#include <stdlib.h>

static int load_one(const char *path, cp_profile **out, cp_error *error)
{
    if (cp_profile_read_file(path, out, error) < 0) {
        return -1;
    }
    cp_profile_ensure_mapping(*out);
    return 0;
}

static void free_all(cp_profile **profiles, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cp_profile_free(profiles[i]);
    }
    free(profiles);
}

/* Adds up `count` profiles and frees them. */
static int add_up(cp_profile **profiles, const char *const *paths, size_t count, cp_profile **out,
                  cp_error *error)
{
    cp_error inner;
    int status = cp_profile_add(profiles, count, out, &inner);

    if (status < 0) {
        cp_fail(error, "%.300s and %s: %.600s", paths[0], count > 2 ? "others" : paths[1],
                inner.text);
    }
    free_all(profiles, count);
    return status;
}

/* Adds up equal samples of one profile. */
static void join(cp_profile **profile)
{
    cp_profile *source = *profile;
    cp_error ignored;

    cp_profile_merge(&source, 1, profile, &ignored); /* cannot fail: there is only one profile */
    cp_profile_free(source);
}

/* Leaves no profile after a failure. */
static int load_all(const char *const *paths, size_t count, cp_profile **profiles, cp_error *error)
{
    cp_meter meter;
    size_t done = 0;

    cp_meter_begin(&meter, "reading", "files");
    while (done < count && load_one(paths[done], &profiles[done], error) == 0) {
        if (++done < count) {
            cp_meter_step(&meter, done, count);
        }
    }
    cp_meter_end(&meter);
    for (size_t i = 0; done < count && i < done; i++) {
        cp_profile_free(profiles[i]);
    }
    return done < count ? -1 : 0;
}

/* Reads profiles and adds them up. A single one is joined if the difference of two is asked for. */
static int load_sum(const cp_sources *sources, const char *const *paths, size_t count,
                    cp_profile **out, cp_error *error)
{
    if (count > 1) {
        *out = cp_profile_sum_files(paths, count, cp_profile_ensure_mapping);
        if (*out) {
            return 0;
        }
    }
    cp_profile **profiles = cp_heap_alloc(count, sizeof(cp_profile *));

    if (load_all(paths, count, profiles, error) < 0) {
        free(profiles);
        return -1;
    }
    if (count > 1) {
        return add_up(profiles, paths, count, out, error);
    }
    if (sources->base_count && sources->join != CP_JOIN_NEVER) {
        join(&profiles[0]);
    }
    *out = profiles[0];
    free(profiles);
    return 0;
}

static void label_samples(cp_profile *profile)
{
    cp_label base = {.key = cp_strings_put(&profile->strings, CP_BASE_LABEL),
                     .text = cp_strings_put(&profile->strings, "true")};

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        cp_sample *sample = &profile->samples[i];
        cp_label *labels = CP_POOL_ARRAY(&profile->pool, cp_label, sample->label_count + 1);

        for (uint32_t j = 0; j < sample->label_count; j++) {
            labels[j] = sample->labels[j];
        }
        labels[sample->label_count] = base;
        sample->labels = labels;
        cp_profile_sort_labels(profile, labels, ++sample->label_count);
    }
}

/* Subtracts the bases from *profile. Frees it on an error. */
static int subtract(const cp_sources *sources, cp_profile **profile, cp_error *error)
{
    cp_profile *base;

    if (load_sum(sources, sources->bases, sources->base_count, &base, error) < 0) {
        cp_profile_free(*profile);
        return -1;
    }
    if (sources->label_base) {
        label_samples(base);
    }
    cp_error inner;
    if (sources->normalize && cp_profile_normalize(*profile, base, &inner) < 0) {
        cp_profile_free(*profile);
        cp_profile_free(base);
        return cp_fail(error, "%.200s and %.200s: %.600s", sources->paths[0], sources->bases[0],
                       inner.text);
    }
    if (cp_profile_subtract(*profile, base, profile, &inner) < 0) {
        return cp_fail(error, "%.200s and %.200s: %.600s", sources->paths[0], sources->bases[0],
                       inner.text);
    }
    return 0;
}

static bool is_to_be_joined(const cp_sources *sources, const cp_profile *profile)
{
    switch (sources->join) {
    case CP_JOIN_NEVER:
        return false;
    case CP_JOIN_IF_NEEDED:
        return sources->path_count == 1 && cp_profile_needs_merge(profile);
    default:
        return sources->path_count == 1;
    }
}

void cp_report_prepare(const cp_sources *sources, cp_profile *profile)
{
    cp_profile_add_lines(profile, &sources->lines);
    if (!sources->verbatim) {
        cp_profile_demangle_as(profile, sources->mode);
        cp_profile_prune(profile);
        cp_profile_forget_urls(profile);
    }
}

int cp_report_load(const cp_sources *sources, cp_profile **out, cp_error *error)
{
    cp_profile *profile;

    if (load_sum(sources, sources->paths, sources->path_count, &profile, error) < 0) {
        return -1;
    }
    if (sources->base_count) {
        if (subtract(sources, &profile, error) < 0) {
            return -1;
        }
    } else if (is_to_be_joined(sources, profile)) {
        join(&profile);
    }
    cp_report_prepare(sources, profile);
    *out = profile;
    return 0;
}
