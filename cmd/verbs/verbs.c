/* SPDX-License-Identifier: MIT
 *
 * verbs.c: the table of verbs; see verbs.h. A new verb is a new file verb_NAME.c and a row here.
 *
 * Tested by: e2e.cpprof_top.
 */
#include "verbs/verbs.h"

#include "base/suggestion.h"

#include <stddef.h>
#include <string.h>

#ifdef CP_HAS_NO_PUSH /* cmd/CMakeLists.txt */
#define cp_help_push NULL
#define cp_run_push  NULL
#endif

/* The order is that of the help: what a new user needs first, then the reports, then the rest. */
const cp_verb cp_verbs[] = {
    {"record", "run a command and write a profile of it", cp_help_record, cp_run_record},
    {"top", "the functions that cost most", cp_help_top, cp_run_report},
    {"flame", "a page for a browser, as one HTML file", cp_help_flame, cp_run_flame},
    {"web", "the same page, opened in a browser", cp_help_web, cp_run_web},
    {"list", "the source of a function with its costs", cp_help_list, cp_run_list},
    {"peek", "callers and callees of a function", cp_help_peek, cp_run_report},
    {"tree", "every function with its callers and callees", cp_help_tree, cp_run_report},
    {"traces", "all stacks", cp_help_traces, cp_run_report},
    {"tags", "the labels and what they cost", cp_help_tags, cp_run_report},
    {"raw", "everything that is in a profile, as text", cp_help_raw, cp_run_report},
    {"diff", "what changed between two profiles", cp_help_diff, cp_run_diff},
    {"merge", "join several profiles into one", cp_help_merge, cp_run_merge},
    {"convert", "a profile in another format", cp_help_convert, cp_run_convert},
    {"symbolize", "add names, files and lines to a profile", cp_help_symbolize, cp_run_symbolize},
    {"why", "what a process does and waits for; `memory`: what holds its memory", cp_help_why,
     cp_run_why},
    {"memory", "what holds the memory of a process, on one page", cp_help_memory, cp_run_memory,
     .in_passing = true},
    {"dump", "the stacks of all threads of a process", cp_help_dump, cp_run_dump},
    {"ps", "the processes that can be asked for profiles", cp_help_ps, cp_run_ps},
    {"configure", "change what a running process records", cp_help_configure, cp_run_configure},
    {"push", "send profiles to Pyroscope, Parca or OpenTelemetry", cp_help_push, cp_run_push},
    {"agent", "serve or push the profiles of all processes of a host", cp_help_agent, cp_run_agent},
    {"doctor", "what works on this machine, and how to mend the rest", cp_help_doctor,
     cp_run_doctor},
    {"help", "explain a verb, as in `cpprof help top`", cp_help_help, cp_run_help},
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

const char *cp_verb_suggest(const char *name, char *buffer)
{
    cp_suggestion suggestion;

    cp_suggestion_init(&suggestion, name, strlen(name));
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        cp_suggestion_offer(&suggestion, verb->name);
    }
    return cp_suggestion_text(&suggestion, "", buffer);
}
