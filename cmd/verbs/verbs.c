/* SPDX-License-Identifier: MIT
 *
 * verbs.c: the table of verbs; see verbs.h. A new verb is a new file verb_NAME.c and a row here.
 *
 * Tested by: e2e.cpprof_top.
 */
#include "verbs/verbs.h"

#include <stddef.h>
#include <string.h>

const cp_verb cp_verbs[] = {
    {"record", "run a command and write a profile of it", cp_help_record, cp_run_record},
    {"top", "the functions that cost most", cp_help_top, cp_run_top},
    {"peek", "callers and callees of a function", cp_help_peek, cp_run_peek},
    {"tree", "every function with its callers and callees", cp_help_tree, cp_run_tree},
    {"traces", "all stacks", cp_help_traces, cp_run_traces},
    {"tags", "the labels and what they cost", cp_help_tags, cp_run_tags},
    {"raw", "everything that is in a profile, as text", cp_help_raw, cp_run_raw},
    {"list", "the source of a function with its costs", cp_help_list, cp_run_list},
    {"diff", "what changed between two profiles", cp_help_diff, cp_run_diff},
    {"merge", "join several profiles into one", cp_help_merge, cp_run_merge},
    {"help", "explain a verb", cp_help_help, cp_run_help},
    {"dump", "the stacks of all threads of a process", cp_help_dump, cp_run_dump},
    {"flame", "a page for a browser, as one HTML file", cp_help_flame, cp_run_flame},
    {"convert", "a profile in another format", cp_help_convert, cp_run_convert},
    {"web", "the same page, opened in a browser", cp_help_web, cp_run_web},
    {"symbolize", "add names, files and lines to a profile", cp_help_symbolize, cp_run_symbolize},
    {"push", "send a profile to a server", NULL, NULL},
    {"doctor", "what works on this machine, and how to mend the rest", NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

const cp_verb *cp_verb_find(const char *name)
{
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (strcmp(verb->name, name) == 0) {
            return verb;
        }
    }
    return NULL;
}
