/* SPDX-License-Identifier: MIT
 *
 * checks.h: the examinations of `cpprof doctor`. Each adds what it finds.
 */
#ifndef CP_CHECKS_H
#define CP_CHECKS_H

#include <stdbool.h>

typedef struct cp_error cp_error;
typedef struct cp_findings cp_findings;

/* The kernel's answers, the library, and the programs and libraries that cpprof uses. */
void cp_check_machine(cp_findings *findings);

/* The program that `command` (searched for along PATH) would run, and its libraries. Does not run
 * it. Returns 0, or -1 with a sentence if there is no such command. */
int cp_check_command(cp_findings *findings, const char *command, cp_error *error);

/* A file's symbols, lines and build id, as far as it can be read at `path`; packages are looked for
 * by `installed`, its path for the system that it was installed on. */
void cp_check_names(cp_findings *findings, const char *path, const char *installed);

/* A running process, which is neither stopped nor changed. Returns 0, or -1 with a sentence if
 * there is none. */
int cp_check_process(cp_findings *findings, int pid, cp_error *error);

/* Options of LIBPPROF that send profiles and record none. */
void cp_check_push(cp_findings *findings, const char *options);

#endif
