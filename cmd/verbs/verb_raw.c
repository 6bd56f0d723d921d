/* SPDX-License-Identifier: MIT
 *
 * verb_raw.c: `cpprof raw`, which prints everything that is in a profile.
 *
 * Tested by: e2e.cpprof_reports.
 */
#include "verbs/verbs.h"

#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "verbs/report_verb.h"

const char cp_help_raw[] =
    "usage: cpprof raw [OPTIONS] [FILE...]\n"
    "\n"
    "Prints everything that is in a profile as text, as `go tool pprof -raw` does:\n"
    "samples with their values, the numbers of their locations and their labels;\n"
    "then locations; then mappings.\n"
    "\n"
    "Example: cpprof raw prof.pb.gz\n"
    "\n" CP_REPORT_NOTES;

static int print_raw(cp_report *report, cp_regex *expression, bool json, FILE *out, cp_error *error)
{
    (void)expression, (void)error;
    if (json) {
        cp_report_json_raw(report, out);
    } else {
        cp_report_print_raw(report, out);
    }
    return 0;
}

int cp_run_raw(int argc, char **argv)
{
    static const cp_report_verb verb = {.name = "raw",
                                        .untrimmed = true,
                                        .shows_samples = true,
                                        .shows_addresses = true,
                                        .print = print_raw};

    return cp_report_verb_run(&verb, argc, argv);
}
