/* SPDX-License-Identifier: MIT
 *
 * main.c: the entry point of cpprof. It finds the verb and runs it.
 */
#include "base/message.h"
#include "base/suggestion.h"
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

static int print_version(void)
{
    printf("cpprof %s\n", CP_VERSION);
    return fflush(stdout) == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}

int main(int argc, char **argv)
{
    char *help[] = {"help", NULL};

    if (argc < 2) {
        return cp_bad_usage(NULL, "expected a verb such as record or top, found none");
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-version") == 0) {
        return print_version();
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        return cp_run_help(1, help);
    }
    const cp_verb *verb = cp_verb_find(argv[1]);
    if (!verb) {
        char near[CP_SUGGESTION_BYTES];
        return cp_bad_usage(NULL, "unknown verb '%s'%s", argv[1], cp_verb_suggest(argv[1], near));
    }
    if (!verb->run) {
        cp_complain("%s: not in this version", verb->name);
        return CP_EXIT_BAD_USAGE;
    }
    return verb->run(argc - 1, argv + 1);
}
