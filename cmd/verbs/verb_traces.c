/* SPDX-License-Identifier: MIT
 *
 * verb_traces.c: `cpprof traces`, which prints all stacks.
 *
 * Tested by: e2e.cpprof_reports.
 */
#include "verbs/verbs.h"

#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "verbs/report_verb.h"

const char cp_help_traces[] =
    "usage: cpprof traces [OPTIONS] [FILE...]\n"
    "\n"
    "Prints every sample with its labels and its stack, the innermost function\n"
    "first, as `go tool pprof -traces` does.\n"
    "\n"
    "Example: cpprof traces --focus '^parse' prof.pb.gz\n"
    "\n" CP_REPORT_NOTES;

static int print_traces(cp_report *report, cp_regex *expression, bool json, FILE *out,
                        cp_error *error)
{
    (void)expression, (void)error;
    if (json) {
        cp_report_json_traces(report, out);
    } else {
        cp_report_print_traces(report, out);
    }
    return 0;
}

int cp_run_traces(int argc, char **argv)
{
    static const cp_report_verb verb = {
        .name = "traces", .shows_samples = true, .print = print_traces};

    return cp_report_verb_run(&verb, argc, argv);
}
