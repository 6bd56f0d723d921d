/* SPDX-License-Identifier: MIT
 *
 * record_diagnose.h: why a command cannot be profiled, or was not.
 */
#ifndef CP_RECORD_DIAGNOSE_H
#define CP_RECORD_DIAGNOSE_H

#include <stdbool.h>

typedef struct cp_child cp_child;
typedef struct cp_error cp_error;

/*
 * Looks at the program that `command` (searched along PATH) would run: a script's interpreter is
 * followed. Returns CP_DIAGNOSE_FINE if nothing speaks against preloading a library into it, or
 * else what would happen, with a sentence that says why and how to mend it. Only what is certain is
 * reported.
 */
enum {
    CP_DIAGNOSE_FINE = 0,
    CP_DIAGNOSE_IGNORED = -1, /* it runs, without a profile */
    CP_DIAGNOSE_BREAKS = -2   /* it would not even start */
};
int cp_diagnose_command(const char *command, cp_error *error);

/* The sentence for a command that has ended without a profile. */
void cp_diagnose_ended(const char *command, const cp_child *child, bool subprocesses,
                       cp_error *error);

#endif
