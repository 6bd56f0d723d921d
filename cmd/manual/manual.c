/* SPDX-License-Identifier: MIT
 *
 * manual.c: writes the manual pages and completions into a folder; see manual.h.
 *
 * Tested by: e2e.install, e2e.cpprof_completion.
 */
#include "manual/manual.h"

#include "base/pool.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *create(const char *folder, const char *name)
{
    char *path = cp_heap_printf("%s/%s", folder, name);
    FILE *out = fopen(path, "w");

    if (!out) {
        perror(path);
        exit(1);
    }
    free(path);
    return out;
}

static void finish(FILE *out)
{
    if (ferror(out) || fclose(out) != 0) {
        perror("manual");
        exit(1);
    }
}

static void write_page(const char *folder, const cp_verb *verb)
{
    char *name = verb ? cp_heap_printf("cpprof-%s.1", verb->name) : cp_heap_printf("cpprof.1");
    FILE *out = create(folder, name);

    cp_manual_page(verb, out);
    finish(out);
    free(name);
}

static void write_pages(const char *folder)
{
    write_page(folder, NULL);
    for (const cp_verb *verb = cp_verbs; verb->name; verb++) {
        if (verb->run) {
            write_page(folder, verb);
        }
    }
}

/* `scripts` is the folder of the shells' scripts. */
static void write_completions(const char *folder, const char *scripts)
{
    FILE *bash = create(folder, "cpprof.bash"), *zsh = create(folder, "cpprof.zsh");
    FILE *fish = create(folder, "cpprof.fish");
    char *bash_script = cp_heap_printf("%s/cpprof.bash", scripts);
    char *zsh_script = cp_heap_printf("%s/cpprof.zsh", scripts);

    cp_manual_bash(bash_script, bash);
    cp_manual_zsh(zsh_script, zsh);
    cp_manual_fish(fish);
    finish(bash);
    finish(zsh);
    finish(fish);
    free(bash_script);
    free(zsh_script);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: cpprof_manual FOLDER SCRIPTS\n", stderr);
        return 2;
    }
    write_pages(argv[1]);
    write_completions(argv[1], argv[2]);
    return 0;
}
