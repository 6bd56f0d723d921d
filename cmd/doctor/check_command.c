/* SPDX-License-Identifier: MIT
 *
 * check_command.c: a program that is to be recorded; see checks.h.
 *
 * Its libraries are listed by its dynamic loader (ld.so --list), which runs nothing of it.
 *
 * Tested by: e2e.cpprof_doctor
 */
#include "doctor/checks.h"

#include "base/message.h"
#include "doctor/elf_facts.h"
#include "doctor/findings.h"
#include "record/record_diagnose.h"
#include "record/record_library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what the loader says ---- */

/* Runs LOADER --list PROGRAM with our library preloaded; its output, errors included. */
static FILE *begin_list(const char *loader, const char *program, const char *library, pid_t *child)
{
    int ends[2];

    if (pipe(ends) < 0) {
        return NULL;
    }
    *child = fork();
    if (*child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LC_ALL", "C", 1);
        execl(loader, loader, "--preload", library, "--list", program, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return fdopen(ends[0], "re");
}

static void take_line(cp_findings *f, const char *line)
{
    static const struct {
        const char *library, *name;
    } allocators[] = {{"libjemalloc", "jemalloc"},
                      {"libtcmalloc", "tcmalloc"},
                      {"libmimalloc", "mimalloc"},
                      {"libsnmalloc", "snmalloc"}};

    /* musl: "Error loading shared library NAME: ...", then a line for each symbol. */
    if ((strstr(line, "not found") && !strstr(line, "Error relocating ")) ||
        strstr(line, "Error loading shared library ") ||
        strstr(line, "cannot open shared object file")) {
        cp_found_less(f, CP_FAILS, NULL, "libraries", NULL, "%s", line + strspn(line, " \t"));
    }
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
        if (strstr(line, allocators[i].library)) {
            cp_found(f, "malloc", "that of %s, which stays in place", allocators[i].name);
        }
    }
}

static void check_libraries(cp_findings *f, const char *program, const cp_elf_facts *facts)
{
    cp_error ignored;
    char line[2 * PATH_MAX];
    pid_t child = -1;
    char *library = cp_record_library_find(&ignored);
    FILE *list = library ? begin_list(facts->loader, program, library, &child) : NULL;

    while (list && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        take_line(f, line);
    }
    if (list) {
        fclose(list);
    }
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
    free(library);
}

/* ---- the program ---- */

static void check_malloc(cp_findings *f, const cp_elf_facts *facts)
{
    if (facts->jemalloc) {
        cp_found_less(f, CP_LIMITED, "heap allocs peak leak", "malloc", facts->jemalloc,
                      "the program has jemalloc inside: its blocks are seen if it is 5.3.1 or "
                      "later, has its profiler, and this is in the environment");
    } else if (facts->exports_malloc) {
        cp_found_less(
            f, CP_FAILS, "heap allocs peak leak", "malloc",
            "link libpprof before it, or link its allocator as a library",
            "the program defines malloc itself, and a preloaded library comes after it: the "
            "heap profile will be empty");
    } else if (facts->hides_malloc) {
        cp_found_less(f, CP_LIMITED, "heap allocs peak leak", "malloc",
                      "link its allocator as a library",
                      "the program has a malloc of its own inside, which no profile sees");
    }
}

static void check_language(cp_findings *f, const char *program)
{
    cp_elf_facts facts;

    if (cp_elf_facts_read(program, &facts) == 0 && facts.is_go) {
        cp_found_less(f, CP_LIMITED, "", "Go", "use net/http/pprof there",
                      "a Go program: its goroutines, its heap and its locks are its runtime's own");
    }
}

int cp_check_command(cp_findings *findings, const char *command, cp_error *error)
{
    char program[PATH_MAX];
    cp_elf_facts facts;
    cp_error obstacle;

    if (!cp_diagnose_find(command, program, sizeof program)) {
        return cp_fail(error, "%s: expected a command, found none along PATH", command);
    }
    cp_findings_about(findings, program);
    if (cp_diagnose_command(command, &obstacle) != CP_DIAGNOSE_FINE) {
        cp_found_less(findings, CP_FAILS, NULL, "preload", NULL, "%s", obstacle.text);
    } else if (cp_elf_facts_read(program, &facts) < 0) {
        cp_found_less(findings, CP_LIMITED, "", "program", NULL,
                      "it cannot be read: nothing more is known of it");
    } else {
        cp_found(findings, "preload", "dynamically linked by %s, no setuid, no capabilities",
                 facts.loader);
        check_libraries(findings, program, &facts);
        check_malloc(findings, &facts);
    }
    check_language(findings, program);
    cp_check_names(findings, program, program);
    return 0;
}
