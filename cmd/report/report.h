/* SPDX-License-Identifier: MIT
 *
 * report.h: the common part of the verbs that read profiles: header, totals, units, trimmed graph.
 *
 *   file(s) -> merged, named, pruned profile -> focus -> frames -> graph -> trimmed graph -> text
 *
 * Owns: a report owns everything that it made, until cp_report_release(). The caller owns the
 * profile; the report changes it, since filters are applied in place.
 */
#ifndef CP_REPORT_H
#define CP_REPORT_H

#include "names/demangle.h"
#include "report/graph.h"

#include <stdio.h>

typedef struct cp_error cp_error;
typedef struct cp_regex cp_regex;

/* A report leaves out frames and edges below these parts of the total. */
#define CP_NODE_FRACTION 0.005
#define CP_EDGE_FRACTION 0.001

typedef struct cp_report_options {
    bool by_cum;                /* sort by cum instead of flat */
    uint32_t node_count;        /* the largest number of rows; 0: all rows */
    const char *sample;         /* sample type, or NULL for the profile's default */
    const char *focus, *ignore; /* the user's text, or NULL */
    cp_regex *focus_regex, *ignore_regex;
} cp_report_options;

typedef struct cp_report {
    cp_profile *profile;
    const cp_report_options *options;
    uint32_t value_index;
    const char *sample_type, *sample_unit;
    const char *output_unit; /* CP_UNIT_MINIMUM: each value has its own unit */
    int64_t total;           /* sum of the absolute values, before focus and ignore */

    cp_frames frames;
    cp_graph graph;             /* trimmed and sorted */
    uint32_t significant_nodes; /* how many there were before the limit on rows */
    uint32_t dropped_nodes;
} cp_report;

/* Reads a profile for a report: subtracts `base` unless it is NULL, merges equal samples, names the
 * functions in that mode, and applies the profile's drop_frames. Returns 0 and a profile to be
 * freed with cp_profile_free(), or -1 with a sentence. */
int cp_report_load(const char *path, const char *base, cp_demangle_mode mode, cp_profile **out,
                   cp_error *error);

/* Applies the filters and builds the trimmed graph. Warns on stderr of a filter that matches
 * nothing. Returns 0, or -1 with a sentence if the profile does not have the sample type, or none
 * at all. */
int cp_report_init(cp_report *report, cp_profile *profile, const cp_report_options *options,
                   cp_error *error);
void cp_report_release(cp_report *report);

/* Prints "File: ...", "Type: ...", "Time: ...", "Duration: ..." and the profile's comments. */
void cp_report_print_profile(const cp_report *report, FILE *out);
/* Prints the filters, "Showing nodes accounting for ..." and the number of nodes left out. */
void cp_report_print_summary(const cp_report *report, FILE *out);
/* Prints the table of `top`, one row for each frame. */
void cp_report_print_rows(const cp_report *report, FILE *out);

/* Returns a value in the report's unit; to be freed. */
char *cp_report_value(const cp_report *report, int64_t value);

#endif
