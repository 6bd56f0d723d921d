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
    {"merge", "join several profiles into one", cp_help_merge, cp_run_merge},
    {"help", "explain a verb", cp_help_help, cp_run_help},
    {"peek", "callers and callees of a function", NULL, NULL},
    {"tree", "every function with its callers and callees", NULL, NULL},
    {"traces", "all stacks", NULL, NULL},
    {"tags", "the labels and what they cost", NULL, NULL},
    {"raw", "everything that is in a profile, as text", NULL, NULL},
    {"list", "the source of a function with its costs", NULL, NULL},
    {"dump", "the stacks of all threads of a process", NULL, NULL},
    {"flame", "a flame graph as one HTML file", NULL, NULL},
    {"diff", "what changed between two profiles", NULL, NULL},
    {"convert", "a profile in another format", NULL, NULL},
    {"web", "the flame graph in a browser", NULL, NULL},
    {"symbolize", "add names, files and lines to a profile", NULL, NULL},
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
