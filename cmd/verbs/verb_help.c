/* SPDX-License-Identifier: MIT
 *
 * verb_help.c: `cpprof help [VERB]`, the list of verbs and the help of each.
 *
 * Tested by: e2e.cpprof_top.
 */
#include "verbs/verbs.h"

#include "base/message.h"

#include <stdio.h>

const char cp_help_help[] = "usage: cpprof help [VERB]\n"
                            "\n"
                            "Lists the verbs, or explains one.\n";

static int list_verbs(void)
{
    fputs("usage: cpprof VERB [OPTIONS] ...\n"
          "\n"
          "Profiles native Linux programs and reads profiles in pprof's format.\n"
          "\n",
          stdout);
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (verb->run) {
            printf("  %-10s %s\n", verb->name, verb->summary);
        }
    }
    fputs("\nNot in this version yet:\n ", stdout);
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (!verb->run) {
            printf(" %s", verb->name);
        }
    }
    fputs("\n\n"
          "`cpprof help VERB` explains a verb; `cpprof --version` prints the version.\n"
          "To begin: cpprof record -- COMMAND\n",
          stdout);
    return fflush(stdout) == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}

int cp_verb_help(const char *name)
{
    const cp_verb *verb = cp_verb_find(name);

    if (!verb) {
        return cp_bad_usage(NULL, "help: expected a verb, found '%s'", name);
    }
    if (verb->help) {
        fputs(verb->help, stdout);
    } else {
        printf("cpprof %s: %s. Not in this version.\n", verb->name, verb->summary);
    }
    return fflush(stdout) == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}

int cp_run_help(int argc, char **argv)
{
    if (argc > 2) {
        return cp_bad_usage("help", "help: expected one verb, found %d words", argc - 1);
    }
    return argc == 2 ? cp_verb_help(argv[1]) : list_verbs();
}
