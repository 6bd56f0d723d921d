/* SPDX-License-Identifier: MIT
 *
 * report.h: what the reading verbs have in common: header lines, totals, units, the trimmed graph.
 *
 *   file(s) -> merged, named, pruned profile -> focus -> frames -> graph -> trimmed graph -> text
 *
 * Owns: a report owns everything it made, until pp_report_release(); the profile stays the caller's
 * and is changed by the report (filters are applied in place).
 */
#ifndef CPPROF_REPORT_H
#define CPPROF_REPORT_H

#include "demangle.h"
#include "graph.h"

#include <stdio.h>

struct pp_error;
struct pp_regex;

/* Frames below this part of the total are left out of reports, and so are edges below theirs. */
#define PP_NODE_FRACTION 0.005
#define PP_EDGE_FRACTION 0.001

struct pp_report_options {
    bool by_cum;                /* sort by cum instead of flat */
    uint32_t node_count;        /* at most so many rows; 0 = all */
    const char *sample;         /* sample type, or NULL for the profile's default */
    const char *focus, *ignore; /* as typed, or NULL */
    struct pp_regex *focus_regex, *ignore_regex;
};

struct pp_report {
    struct pp_profile *profile;
    const struct pp_report_options *options;
    uint32_t value_index;
    const char *sample_type, *sample_unit;
    const char *output_unit; /* PP_UNIT_MINIMUM: each value has its own */
    int64_t total;           /* of the absolute values, before focus and ignore */

    struct pp_frames frames;
    struct pp_graph graph;      /* trimmed and sorted */
    uint32_t significant_nodes; /* before the limit on rows */
    uint32_t dropped_nodes;
};

/*
 * Reads the profile (minus `base` unless NULL), merges equal samples, names the functions in that
 * mode and applies its drop_frames: what every reading verb starts from. The result is to be freed
 * with pp_profile_free(). Returns 0 or -1 with a sentence.
 */
int pp_report_load(const char *path, const char *base, enum pp_demangle_mode mode,
                   struct pp_profile **out, struct pp_error *error);

/* Applies the filters and builds the trimmed graph. Returns 0, or -1 with a sentence (no such
 * sample type, no sample types); filters that match nothing are said on stderr. */
int pp_report_init(struct pp_report *report, struct pp_profile *profile,
                   const struct pp_report_options *options, struct pp_error *error);
void pp_report_release(struct pp_report *report);

/* "File: ...", "Type: ...", "Time: ...", "Duration: ..." and the profile's comments. */
void pp_report_print_profile(const struct pp_report *report, FILE *out);
/* The filters, "Showing nodes accounting for ..." and what was left out. */
void pp_report_print_summary(const struct pp_report *report, FILE *out);
/* The table: one row for each frame, as `top` prints it. */
void pp_report_print_rows(const struct pp_report *report, FILE *out);

/* A value in the report's unit; to be freed. */
char *pp_report_value(const struct pp_report *report, int64_t value);

#endif
