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
#include "report/report_growth.h"
#include "verbs/report_verb.h"

const char cp_help_diff[] =
    "usage: cpprof diff BASE FILE... [OPTIONS]\n"
    "\n"
    "Prints what each function costs in BASE and in FILE, and the change, the largest\n"
    "change first. Percentages are of the total of BASE. Of two heap profiles it also\n"
    "prints the stacks that hold more memory than before.\n"
    "\n"
    "Example: cpprof diff --cum --fail-above 5% before.pb.gz after.pb.gz\n"
    "\n"
    "--fail-above looks at each function and at the total. Both limits are for tests:\n"
    "standard error then names what grew. 30 rows are printed without --rows.\n"
    "\n" CP_REPORT_NOTES;

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
        cp_growth_print(report, out);
    }
    fflush(out);
    bool too_much = cp_differences_complain(&differences);
    cp_differences_release(&differences);
    return too_much ? CP_EXIT_ABOVE : CP_EXIT_OK;
}

int cp_run_diff(int argc, char **argv)
{
    static const cp_report_verb verb = {.sorts = true,
                                        .limits = true,
                                        .name = "diff",
                                        .has_base = true,
                                        .node_count = 30,
                                        .print = print_diff};

    return cp_report_verb_run(&verb, argc, argv);
}
