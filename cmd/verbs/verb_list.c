/* SPDX-License-Identifier: MIT
 *
 * verb_list.c: `cpprof list`, which prints the source of functions with the values of each line.
 *
 * Owns: the name of the current folder, for the length of a call.
 * Tested by: e2e.cpprof_list.
 */
#include "verbs/verbs.h"

#include "base/message.h"
#include "report/report.h"
#include "report/report_json.h"
#include "report/report_text.h"
#include "verbs/report_verb.h"

#include <stdlib.h>
#include <unistd.h>

const char cp_help_list[] =
    "usage: cpprof list RE [OPTIONS] [FILE...]\n"
    "\n"
    "Prints the source of the functions that match RE, with the flat and cum value\n"
    "of each line, as `go tool pprof -list` does. Lines that the profile lacks come\n"
    "from debug information here.\n"
    "\n"
    "Example: cpprof list '^parse' prof.pb.gz\n"
    "\n"
    "A file whose path is relative is looked for in the folders of --source-path,\n"
    "and in those above them; without it in the current folder.\n"
    "\n" CP_REPORT_NOTES;

static int (*printer(bool as_asm, bool json))(const cp_report *report, cp_regex *wanted, FILE *out,
                                              cp_error *error)
{
    if (as_asm) {
        return json ? cp_report_json_asm : cp_report_print_asm;
    }
    return json ? cp_report_json_list : cp_report_print_list;
}

static int print_list(cp_report *report, cp_regex *expression, bool json, FILE *out,
                      cp_error *error)
{
    char *current = getcwd(NULL, 0);
    const cp_report_options *typed = report->options;
    cp_report_options options = *typed;

    if (!options.sources.folders) {
        options.sources.folders = current ? current : "/";
    }
    report->options = &options;
    cp_graph_init(&report->graph, &report->frames, report->value_index);
    int status = printer(options.as_asm, json)(report, expression, out, error);
    report->options = typed;
    free(current);
    return status;
}

int cp_run_list(int argc, char **argv)
{
    static const cp_report_verb verb = {.name = "list",
                                        .has_expression = true,
                                        .untrimmed = true,
                                        .shows_lines = true,
                                        .has_asm = true,
                                        .print = print_list};

    return cp_report_verb_run(&verb, argc, argv);
}
