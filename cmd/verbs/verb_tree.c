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
    "usage: cpprof tree [--cum] [-n N] [OPTIONS] FILE...\n"
    "\n"
    "Prints each function with its callers above it and its callees below it, as `go tool pprof\n"
    "-tree` does. Functions below 0.5 % and calls below 0.1 % of the total are left out.\n"
    "\n"
    "  --cum                sort by cum (the function and its callees), not by flat (only the\n"
    "                       function)\n"
    "  -n N                 print at most N functions (80; 0: all)\n"
    "\n" CP_REPORT_HELP;

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
    static const cp_report_verb verb = {.name = "tree", .node_count = 80, .print = print_tree};

    return cp_report_verb_run(&verb, argc, argv);
}
