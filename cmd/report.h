/* SPDX-License-Identifier: MIT
 *
 * report.h: what the reading verbs have in common: header lines, totals, units, the trimmed graph.
 *
 *   file(s) -> merged, named, pruned profile -> focus -> frames -> graph -> trimmed graph -> text
 *
 * Owns: a report owns everything it made, until cp_report_release(); the profile stays the caller's
 * and is changed by the report (filters are applied in place).
 */
#ifndef CP_REPORT_H
#define CP_REPORT_H

#include "demangle.h"
#include "graph.h"

#include <stdio.h>

typedef struct cp_error cp_error;
typedef struct cp_regex cp_regex;

/* Frames below this part of the total are left out of reports, and so are edges below theirs. */
#define CP_NODE_FRACTION 0.005
#define CP_EDGE_FRACTION 0.001

typedef struct cp_report_options {
    bool by_cum;                /* sort by cum instead of flat */
    uint32_t node_count;        /* at most so many rows; 0 = all */
    const char *sample;         /* sample type, or NULL for the profile's default */
    const char *focus, *ignore; /* as typed, or NULL */
    cp_regex *focus_regex, *ignore_regex;
} cp_report_options;

typedef struct cp_report {
    cp_profile *profile;
    const cp_report_options *options;
    uint32_t value_index;
    const char *sample_type, *sample_unit;
    const char *output_unit; /* CP_UNIT_MINIMUM: each value has its own */
    int64_t total;           /* of the absolute values, before focus and ignore */

    cp_frames frames;
    cp_graph graph;             /* trimmed and sorted */
    uint32_t significant_nodes; /* before the limit on rows */
    uint32_t dropped_nodes;
} cp_report;

/*
 * Reads the profile (minus `base` unless NULL), merges equal samples, names the functions in that
 * mode and applies its drop_frames: what every reading verb starts from. The result is to be freed
 * with cp_profile_free(). Returns 0 or -1 with a sentence.
 */
int cp_report_load(const char *path, const char *base, cp_demangle_mode mode, cp_profile **out,
                   cp_error *error);

/* Applies the filters and builds the trimmed graph. Returns 0, or -1 with a sentence (no such
 * sample type, no sample types); filters that match nothing are said on stderr. */
int cp_report_init(cp_report *report, cp_profile *profile, const cp_report_options *options,
                   cp_error *error);
void cp_report_release(cp_report *report);

/* "File: ...", "Type: ...", "Time: ...", "Duration: ..." and the profile's comments. */
void cp_report_print_profile(const cp_report *report, FILE *out);
/* The filters, "Showing nodes accounting for ..." and what was left out. */
void cp_report_print_summary(const cp_report *report, FILE *out);
/* The table: one row for each frame, as `top` prints it. */
void cp_report_print_rows(const cp_report *report, FILE *out);

/* A value in the report's unit; to be freed. */
char *cp_report_value(const cp_report *report, int64_t value);

#endif
