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
    "usage: cpprof top [OPTIONS] [FILE...]   or: -p PID\n"
    "\n"
    "Prints the functions that cost most, as `go tool pprof -top` does. Functions\n"
    "below 0.5 % of the total are left out; the header has their number.\n"
    "\n"
    "Example: cpprof top --cum -n 20 prof.pb.gz\n"
    "\n" CP_REPORT_NOTES "\n"
    "PID is a process, which loads libpprof for as long as it is watched, or the\n"
    "address of a server with /debug/pprof/. Its CPU profile is shown; keys change to\n"
    "what is in use in the heap, allocations, block, mutex and threads, or PID/heap\n"
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

int cp_run_top(int argc, char **argv)
{
    static const cp_report_verb verb = {
        .sorts = true, .limits = true, .watches = true, .name = "top", .print = print_top};

    return cp_report_verb_run(&verb, argc, argv);
}
