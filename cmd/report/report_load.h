/* SPDX-License-Identifier: MIT
 *
 * report_load.h: reading the profiles that a report is about.
 */
#ifndef CP_REPORT_LOAD_H
#define CP_REPORT_LOAD_H

#include "names/demangle.h"
#include "profile/profile_lines.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/* Whether equal samples of a single profile are added up. Those of several profiles always are. */
typedef enum cp_join {
    CP_JOIN_IF_NEEDED, /* for a report on sums */
    CP_JOIN_ALWAYS,
    CP_JOIN_NEVER
} cp_join;

typedef struct cp_sources {
    const char *const *paths; /* several profiles are added up */
    size_t path_count;
    const char *const *bases; /* profiles to subtract */
    size_t base_count;
    bool label_base; /* the samples of the bases get a label, and percentages are of their total */
    bool normalize;  /* scale the profile to the total of the bases first */
    cp_join join;
    bool verbatim; /* neither name functions nor apply drop_frames */
    cp_demangle_mode mode;
    cp_lines_options lines; /* which mappings get lines */
} cp_sources;

/* The label of samples of the bases; its value is "true". */
#define CP_BASE_LABEL "pprof::base"

/* Reads the profiles and subtracts the bases, adds lines, names the functions, and applies drop_frames. Returns
 * 0 and a profile to be freed with cp_profile_free(), or -1 with a sentence. */
int cp_report_load(const cp_sources *sources, cp_profile **out, cp_error *error);

/* Does the last three of these with a profile that is there. */
void cp_report_prepare(const cp_sources *sources, cp_profile *profile);

#endif
