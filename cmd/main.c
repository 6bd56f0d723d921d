/* SPDX-License-Identifier: MIT
 *
 * main.c: the entry point of cpprof: finds the verb and runs it.
 */
#include "message.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static int print_version(void)
{
    printf("cpprof %s\n", CPPROF_VERSION);
    return fflush(stdout) == 0 ? PP_EXIT_OK : PP_EXIT_BAD_INPUT;
}

int main(int argc, char **argv)
{
    const struct pp_verb *verb;
    char *help[] = {"help", NULL};

    if (argc < 2)
        return pp_bad_usage(NULL, "expected a verb, such as record or top");
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-version") == 0)
        return print_version();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return pp_run_help(1, help);
    verb = pp_verb_find(argv[1]);
    if (!verb)
        return pp_bad_usage(NULL, "unknown verb '%s'", argv[1]);
    if (!verb->run) {
        pp_complain("%s: not in this version", verb->name);
        return PP_EXIT_BAD_USAGE;
    }
    return verb->run(argc - 1, argv + 1);
}
