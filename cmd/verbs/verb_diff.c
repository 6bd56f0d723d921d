/* SPDX-License-Identifier: MIT
 *
 * verb_diff.c: `cpprof diff`, which prints what changed between two profiles.
 *
 * Tested by: e2e.cpprof_diff.
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "report/report.h"
#include "report/report_diff.h"
#include "verbs/report_verb.h"

const char cp_help_diff[] =
    "usage: cpprof diff BASE FILE... [--cum] [-n N] [--fail-above N%] [OPTIONS]\n"
    "\n"
    "Prints what each function costs in BASE and in FILE, and the change, the largest change "
    "first.\n"
    "Percentages are of the total of BASE.\n"
    "\n"
    "  --cum                compare cum values (the function and its callees), not flat ones\n"
    "  -n N                 print at most N rows (30; 0: all)\n"
    "  --fail-above N%      exit with status 3 if a function or the total grew by more than N % "
    "of\n"
    "                       the total of BASE; for tests\n"
    "\n" CP_REPORT_HELP;

static int print_diff(cp_report *report, cp_regex *expression, bool json, FILE *out,
                      cp_error *error)
{
    cp_differences differences;

    (void)expression, (void)error;
    cp_differences_init(&differences, report);
    if (json) {
        cp_differences_json(&differences, out);
    } else {
        cp_differences_print(&differences, out);
    }
    double growth = cp_differences_growth(&differences), limit = report->options->fail_above;
    cp_differences_release(&differences);
    if (limit > 0 && growth > limit) {
        cp_complain("diff: expected growth of at most %g %%, found %.2f %%", limit, growth);
        return CP_EXIT_ABOVE;
    }
    return CP_EXIT_OK;
}

int cp_run_diff(int argc, char **argv)
{
    static const cp_report_verb verb = {
        .name = "diff", .has_base = true, .node_count = 30, .print = print_diff};

    return cp_report_verb_run(&verb, argc, argv);
}
