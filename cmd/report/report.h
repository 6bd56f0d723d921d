/* SPDX-License-Identifier: MIT
 *
 * report.h: what the reports on a profile share: the choice of samples, totals, units, and the
 * trimmed graph.
 *
 *   file(s) -> merged, named, pruned profile -> filters -> frames -> graph -> trimmed graph -> text
 *
 * Owns: a report owns everything that it made, until cp_report_release(). The caller owns the
 * profile; the report changes it, since filters are applied in place.
 */
#ifndef CP_REPORT_H
#define CP_REPORT_H

#include "names/demangle.h"
#include "profile/label_filter.h"
#include "profile/name_filter.h"
#include "report/graph.h"
#include "report/source_file.h"

#include <stdio.h>

typedef struct cp_error cp_error;
typedef struct cp_regex cp_regex;

/* A report leaves out frames and edges below these parts of the total. */
#define CP_NODE_FRACTION 0.005
#define CP_EDGE_FRACTION 0.001

/* Whose text a report is, byte for byte; the first is the default. Versions of `go tool pprof` differ
 * in the time, in `tags`, in `raw`, and in whether equal samples of one file are added up. */
typedef enum cp_style { CP_STYLE_GO_1_26, CP_STYLE_GO_1_19 } cp_style;

/* The user's filters: the names' (name_filter.h), two for labels, and idle_filter.h's. */
enum { CP_TAG_FOCUS = CP_NAME_FILTERS, CP_TAG_IGNORE, CP_IGNORE_IDLE, CP_FILTERS };

/* The name of a filter, as the Go tool has it: "show_from". */
const char *cp_filter_name(int filter);

typedef struct cp_filters {
    const char *texts[CP_FILTERS]; /* NULL: not given */
    cp_regex *names[CP_NAME_FILTERS];
    cp_label_filter *tag_focus, *tag_ignore;
} cp_filters;

typedef struct cp_report_options {
    bool by_cum;         /* sort by cum instead of flat */
    uint32_t node_count; /* the largest number of rows; 0: all rows */
    bool untrimmed;      /* leave out nothing */
    const char *sample;  /* sample type, or NULL for the profile's default */
    const char *unit;    /* of all values, or NULL for one that is readable */
    bool colored;        /* print colours */
    cp_granularity granularity;
    cp_style style;
    double fail_above;       /* of `diff`: the growth in percent that is too much; 0: none is */
    double fail_above_total; /* the same, of the total only */
    bool as_asm;             /* `list`: instructions */
    bool any_build; /* `list --asm` also of files that may not be those that were profiled */
    cp_source_search sources;
    long width;          /* of a picture, in pixels; 0: the usual one */
    bool root_at_bottom; /* of a flame graph */
    bool is_quiet;       /* do not warn of filters that match nothing */
    bool any_bytes;      /* leave control characters in names: the format has escapes of its own */
    cp_filters filters;
} cp_report_options;

typedef struct cp_report {
    cp_profile *profile;
    const cp_report_options *options;
    uint32_t value_index;
    const char *sample_type, *sample_unit;
    const char *output_unit; /* CP_UNIT_MINIMUM: each value has its own unit */
    int64_t total;           /* sum of the absolute values, before the filters */
    cp_label_units label_units;

    cp_frames frames;
    cp_graph graph;             /* trimmed and sorted; empty before cp_report_build_graph() */
    uint32_t significant_nodes; /* how many there were before the limit on rows */
    uint32_t dropped_nodes;
    uint32_t dropped_edges; /* shown if it is not 0 */
} cp_report;

/* Chooses the sample type, adds up the total, applies the filters, makes the names printable, unless
 * `any_bytes`, and makes the frames. Warns on
 * stderr of a filter that matches nothing, unless `is_quiet`. Returns 0, or -1 with a sentence if the profile does not
 * have the sample type, or none at all. */
int cp_report_init(cp_report *report, cp_profile *profile, const cp_report_options *options,
                   cp_error *error);
void cp_report_release(cp_report *report);

/* The profile without what no sample refers to any more; if the user chose a sample type, readers
 * show it first. To be freed with cp_profile_free(). */
cp_profile *cp_report_rest(const cp_report *report);

/* Builds the trimmed graph and chooses the unit of the values. Without `with_edges` the graph has
 * only the edges that cp_report_print_rows() needs. */
void cp_report_build_graph(cp_report *report, bool with_edges);
/* Does the same with only those edges that go from or to a frame that the expression matches. */
void cp_report_build_graph_around(cp_report *report, cp_regex *expression);

/* Chooses the unit of the values by those in the graph. */
void cp_report_choose_unit(cp_report *report);

/* Returns a value in the report's unit; to be freed. */
char *cp_report_value(const cp_report *report, int64_t value);

static inline int64_t cp_report_sample_value(const cp_report *report, uint32_t sample)
{
    return report->profile->samples[sample].values[report->value_index];
}

/* The part of a value below which a report leaves something out. */
int64_t cp_report_fraction(int64_t value, double fraction);

#endif
