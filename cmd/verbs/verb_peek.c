/* SPDX-License-Identifier: MIT
 *
 * verb_peek.c: `cpprof peek`, which prints some functions between their callers and callees.
 *
 * Tested by: e2e.cpprof_reports.
 */
#include "verbs/verbs.h"

#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "verbs/report_verb.h"

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
    if (json) {
        return cp_report_json_tree(report, expression, out, error);
    }
    return cp_report_print_tree(report, expression, out, error);
}

int cp_run_peek(int argc, char **argv)
{
    static const cp_report_verb verb = {.sorts = true,
                                        .name = "peek",
                                        .has_expression = true,
                                        .untrimmed = true,
                                        .print = print_peek};

    return cp_report_verb_run(&verb, argc, argv);
}
