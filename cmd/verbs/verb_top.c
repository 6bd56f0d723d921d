/* SPDX-License-Identifier: MIT
 *
 * verb_top.c: `cpprof top`, which prints the functions that cost most.
 *
 * Tested by: e2e.cpprof_reports.
 */
#include "verbs/verbs.h"

#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "verbs/report_verb.h"

const char cp_help_top[] =
    "usage: cpprof top [--cum] [-n N] [OPTIONS] FILE...\n"
    "\n"
    "Prints the functions that cost most, as `go tool pprof -top` does. Functions below 0.5 % of\n"
    "the total are left out; the header has their number.\n"
    "\n"
    "  --cum                sort by cum (the function and its callees), not by flat (only the\n"
    "                       function)\n"
    "  -n N                 print at most N rows (all)\n"
    "\n" CP_REPORT_HELP;

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

int cp_run_top(int argc, char **argv)
{
    static const cp_report_verb verb = {.name = "top", .print = print_top};

    return cp_report_verb_run(&verb, argc, argv);
}
