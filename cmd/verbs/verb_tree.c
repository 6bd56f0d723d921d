/* SPDX-License-Identifier: MIT
 *
 * verb_tree.c: `cpprof tree`, which prints each function between its callers and callees.
 *
 * Tested by: e2e.cpprof_reports.
 */
#include "verbs/verbs.h"

#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "verbs/report_verb.h"

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
    if (json) {
        return cp_report_json_tree(report, expression, out, error);
    }
    return cp_report_print_tree(report, expression, out, error);
}

int cp_run_tree(int argc, char **argv)
{
    static const cp_report_verb verb = {
        .sorts = true, .limits = true, .name = "tree", .node_count = 80, .print = print_tree};

    return cp_report_verb_run(&verb, argc, argv);
}
