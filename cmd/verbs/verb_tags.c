/* SPDX-License-Identifier: MIT
 *
 * verb_tags.c: `cpprof tags`, which prints the labels and what they cost.
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

#include <stdbool.h>
#include <stdint.h>

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
    if (json) {
        cp_report_json_tags(report, out);
    } else {
        cp_report_print_tags(report, out);
    }
    return 0;
}

int cp_run_tags(int argc, char **argv)
{
    static const cp_report_verb verb = {.name = "tags", .shows_samples = true, .print = print_tags};

    return cp_report_verb_run(&verb, argc, argv);
}
