/* SPDX-License-Identifier: MIT
 *
 * nameless.c: see nameless.h.
 *
 * Owns: nothing after the call.
 * Tested by: e2e.cpprof_names.
 */
#include "report/nameless.h"

#include "base/base_name.h"
#include "base/measurement.h"
#include "base/message.h"
#include "names/debug_package.h"
#include "profile/profile_model.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 3, PERCENT = 5 };

/* "[gzip]+0x4290" is a place: libpprof writes it for a function without a symbol. */
static bool is_place(const char *name)
{
    return name[0] == '[' && strstr(name, "]+0x") != NULL;
}

static bool is_nameless(const cp_profile *profile, const cp_location *location)
{
    if (!location || location->line_count == 0) {
        return true;
    }
    return is_place(cp_profile_text(profile, profile->functions[location->lines[0].function].name));
}

/* The frame that a sample counts for is the leaf. In profiles of waits and allocations it is the
 * caller of the leaf: there the leaf is the function that waits or allocates, which has a name. */
static const cp_location *decisive(const cp_report *report, const cp_sample *sample)
{
    const cp_location *locations = report->profile->locations;
    bool is_time = strcmp(report->sample_type, "cpu") == 0;
    bool has_caller = !is_time && sample->location_count > 1;

    if (sample->location_count == 0) {
        return NULL;
    }
    if (has_caller && !is_nameless(report->profile, &locations[sample->locations[0]])) {
        return &locations[sample->locations[1]];
    }
    return &locations[sample->locations[0]];
}

/* Adds up the values of each mapping's nameless functions. Returns the total of all samples. */
static double sum_up(const cp_report *report, double *shares)
{
    const cp_profile *profile = report->profile;
    double total = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        const cp_location *location = decisive(report, sample);
        double value = (double)cp_measure_abs(sample->values[report->value_index]);
        total += value;
        if (location && location->mapping != CP_NO_MAPPING &&
            cp_profile_text(profile, profile->mappings[location->mapping].file)[0] == '/' &&
            is_nameless(profile, location)) {
            shares[location->mapping] += value;
        }
    }
    return total;
}

static uint32_t largest(const double *shares, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++) {
        if (shares[i] > shares[best]) {
            best = i;
        }
    }
    return best;
}

/* Prints a file and its debug package or build id. *packages collects what to install. */
static void print_file(const cp_profile *profile, const cp_mapping *mapping, double percent,
                       char **packages)
{
    const char *file = cp_profile_text(profile, mapping->file);
    const char *folder = getenv("CPPROF_DPKG");
    char *package = cp_debug_package(folder ? folder : "/var/lib/dpkg", file);
    size_t length;
    const char *base = cp_base_name(file, &length);

    fprintf(stderr, "  %4.1f%%  %.*s", percent, (int)length, base);
    if (package) {
        fprintf(stderr, ": %s", package);
    } else if (mapping->build_id) {
        fprintf(stderr, ": build id %s", cp_profile_text(profile, mapping->build_id));
    }
    fputc('\n', stderr);
    if (package && !(*packages && strstr(*packages, package))) {
        char *more = cp_heap_printf("%s %s", *packages ? *packages : "", package);
        free(*packages);
        *packages = more;
    }
    free(package);
}

static void print_advice(const cp_profile *profile, double *shares, double nameless, double total)
{
    char *packages = NULL;

    fprintf(stderr,
            "\ncpprof: %.0f%% of the profile is in functions without a name, in these files:\n",
            100 * nameless / total);
    for (int i = 0; i < FILES; i++) {
        uint32_t index = largest(shares, profile->mapping_count);
        if (100 * shares[index] < total) {
            break; /* less than 1 % */
        }
        print_file(profile, &profile->mappings[index], 100 * shares[index] / total, &packages);
        shares[index] = 0;
    }
    if (packages) {
        fprintf(stderr,
                "Install these packages, and record again: apt install%s\n"
                "(-dbgsym: https://wiki.debian.org/HowToGetABacktrace)\n",
                packages);
    } else {
        fputs("Put their debug files into /usr/lib/debug/.build-id, and record again; or let go "
              "tool\n"
              "pprof fetch these: DEBUGINFOD_URLS=https://debuginfod.elfutils.org/\n",
              stderr);
    }
    free(packages);
}

void cp_nameless_advise(const cp_report *report)
{
    static bool advised;
    const cp_profile *profile = report->profile;
    double *shares = cp_heap_alloc((size_t)profile->mapping_count + 1, sizeof *shares);
    double total = sum_up(report, shares), nameless = 0;

    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        nameless += shares[i];
    }
    if (!advised && total > 0 && 100 * nameless >= PERCENT * total) {
        advised = true;
        print_advice(profile, shares, nameless, total);
    }
    free(shares);
}
