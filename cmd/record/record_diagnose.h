/* SPDX-License-Identifier: MIT
 *
 * record_diagnose.h: why there can be no profile of a command, or why there was none.
 */
#ifndef CP_RECORD_DIAGNOSE_H
#define CP_RECORD_DIAGNOSE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cp_child cp_child;
typedef struct cp_error cp_error;

/* Finds the program that `command` would run, or the interpreter of a script. */
bool cp_diagnose_find(const char *command, char *program, size_t size);

/* Reads the program that `command` (searched for along PATH) would run, or the interpreter of a
 * script. Returns CP_DIAGNOSE_FINE if a library can be preloaded into it; else one of the others,
 * with a sentence that says why, and how to mend it. It reports only what is certain. */
enum {
    CP_DIAGNOSE_FINE = 0,
    CP_DIAGNOSE_IGNORED = -1, /* the command runs, without a profile */
    CP_DIAGNOSE_BREAKS = -2   /* the command does not even start */
};
int cp_diagnose_command(const char *command, cp_error *error);

/* Returns the file that the command runs, to be freed, if that has an unrelated name, as
 * /usr/bin/redis-check-rdb for the link redis-server. NULL else, also for python3, python3.11. */
char *cp_diagnose_other_name(const char *command);

/* Writes the sentence for a command that ended without a profile. */
void cp_diagnose_ended(const char *command, const cp_child *child, bool alone, cp_error *error);

#endif
