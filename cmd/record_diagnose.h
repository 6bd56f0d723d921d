/* SPDX-License-Identifier: MIT
 *
 * record_diagnose.h: why a command cannot be profiled, or was not.
 */
#ifndef CPPROF_RECORD_DIAGNOSE_H
#define CPPROF_RECORD_DIAGNOSE_H

#include <stdbool.h>

struct pp_child;
struct pp_error;

/*
 * Looks at the program that `command` (searched along PATH) would run: a script's interpreter is
 * followed. Returns PP_DIAGNOSE_FINE if nothing speaks against preloading a library into it, or
 * else what would happen, with a sentence that says why and how to mend it. Only what is certain is
 * reported.
 */
enum {
    PP_DIAGNOSE_FINE = 0,
    PP_DIAGNOSE_IGNORED = -1, /* it runs, without a profile */
    PP_DIAGNOSE_BREAKS = -2   /* it would not even start */
};
int pp_diagnose_command(const char *command, struct pp_error *error);

/* The sentence for a command that has ended without a profile. */
void pp_diagnose_ended(const char *command, const struct pp_child *child, bool subprocesses,
                       struct pp_error *error);

#endif
