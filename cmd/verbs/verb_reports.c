/* SPDX-License-Identifier: MIT
 *
 * verb_reports.c: the verbs that print a report as it is: `cpprof top`, `peek`, `tree`, `traces`, `tags` and
 * `raw`.
 *
 * Tested by: e2e.cpprof_reports.
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "verbs/report_verb.h"

#include <stddef.h>
#include <string.h>

/* ---- top ---- */

const char cp_help_top[] =
    "usage: cpprof top [OPTIONS] [FILE...]   or: -p PID\n"
    "\n"
    "Prints the functions that cost most, as `go tool pprof -top` does. Functions\n"
    "below 0.5 % of the total are left out; the header has their number.\n"
    "\n"
    "Example: cpprof top --cum -n 20 prof.pb.gz\n"
    "\n" CP_REPORT_NOTES "\n"
    "PID is a process, which loads libpprof for as long as it is watched, or the\n"
    "address of a server with /debug/pprof/. Its CPU profile is shown; keys change to\n"
    "what is in use in the heap, allocations, block, mutex, threads and wall, or -e\n"
    "begins with another one. Each table has what was sampled since the last: none is\n"
    "left out. If standard input or output is no terminal, each table is printed.\n";

static int print_top(cp_report *report, cp_regex *expression, bool json, FILE *out, cp_error *error)
{
    (void)expression, (void)error;
    cp_report_build_graph(report, false);
    if (json) {
        cp_report_json_rows(report, out);
        return 0;
    }
    cp_report_print_profile(report, out);
    cp_report_print_summary(report, out);
    cp_report_print_rows(report, out);
    return 0;
}

/* ---- peek ---- */

const char cp_help_peek[] =
    "usage: cpprof peek RE [OPTIONS] [FILE...]\n"
    "\n"
    "Prints the functions that match RE, each with all its callers above it and all\n"
    "its callees below it, as `go tool pprof -peek` does. Nothing is left out.\n"
    "\n"
    "Example: cpprof peek '^parse' prof.pb.gz\n"
    "\n" CP_REPORT_NOTES;

static int print_peek(cp_report *report, cp_regex *expression, bool json, FILE *out,
                      cp_error *error)
{
    cp_report_build_graph_around(report, expression);
    return (json ? cp_report_json_tree : cp_report_print_tree)(report, expression, out, error);
}

/* ---- tree ---- */

const char cp_help_tree[] =
    "usage: cpprof tree [OPTIONS] [FILE...]\n"
    "\n"
    "Prints each function with its callers above it and its callees below it, as\n"
    "`go tool pprof -tree` does. Functions below 0.5 % and calls below 0.1 % of the\n"
    "total are left out, and functions after the first 80.\n"
    "\n"
    "Example: cpprof tree --focus parse prof.pb.gz\n"
    "\n" CP_REPORT_NOTES;

static int print_tree(cp_report *report, cp_regex *expression, bool json, FILE *out,
                      cp_error *error)
{
    cp_report_build_graph(report, true);
    return (json ? cp_report_json_tree : cp_report_print_tree)(report, expression, out, error);
}

/* ---- traces ---- */

const char cp_help_traces[] =
    "usage: cpprof traces [OPTIONS] [FILE...]\n"
    "\n"
    "Prints every sample with its labels and its stack, the innermost function\n"
    "first, as `go tool pprof -traces` does.\n"
    "\n"
    "Example: cpprof traces --focus '^parse' prof.pb.gz\n"
    "\n" CP_REPORT_NOTES;

/* ---- tags ---- */

const char cp_help_tags[] =
    "usage: cpprof tags [OPTIONS] [FILE...]\n"
    "\n"
    "Prints for each label what the samples with each of its values add up to, as\n"
    "`go tool pprof -tags` does.\n"
    "\n"
    "Example: cpprof tags prof.pb.gz\n"
    "\n" CP_REPORT_NOTES;

static bool has_labels(const cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        if (profile->samples[i].label_count) {
            return true;
        }
    }
    return false;
}

static int print_tags(cp_report *report, cp_regex *expression, bool json, FILE *out,
                      cp_error *error)
{
    (void)expression, (void)error;
    if (!has_labels(report->profile)) {
        cp_complain("tags: no sample has a label");
    }
    (json ? cp_report_json_tags : cp_report_print_tags)(report, out);
    return 0;
}

/* ---- raw ---- */

const char cp_help_raw[] =
    "usage: cpprof raw [OPTIONS] [FILE...]\n"
    "\n"
    "Prints everything that is in a profile as text, as `go tool pprof -raw` does:\n"
    "samples with their values, the numbers of their locations and their labels;\n"
    "then locations; then mappings.\n"
    "\n"
    "Example: cpprof raw prof.pb.gz\n"
    "\n" CP_REPORT_NOTES;

/* ---- all ---- */

int cp_run_report(int argc, char **argv)
{
    static const cp_report_verb verbs[] = {
        {.name = "top", .sorts = true, .limits = true, .watches = true, .print = print_top},
        {.name = "peek",
         .sorts = true,
         .has_expression = true,
         .untrimmed = true,
         .print = print_peek},
        {.name = "tree", .sorts = true, .limits = true, .node_count = 80, .print = print_tree},
        {.name = "traces",
         .shows_samples = true,
         .write = cp_report_print_traces,
         .write_json = cp_report_json_traces},
        {.name = "tags", .shows_samples = true, .print = print_tags},
        {.name = "raw",
         .untrimmed = true,
         .shows_samples = true,
         .shows_addresses = true,
         .write = cp_report_print_raw,
         .write_json = cp_report_json_raw},
    };
    size_t i = 0;

    while (strcmp(verbs[i].name, argv[0]) != 0) {
        i++;
    }
    return cp_report_verb_run(&verbs[i], argc, argv);
}
