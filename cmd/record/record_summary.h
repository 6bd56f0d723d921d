/* SPDX-License-Identifier: MIT
 *
 * record_summary.h: the last lines of `cpprof record`: the top ten functions of each profile, and
 * the commands to type next.
 */
#ifndef CP_RECORD_SUMMARY_H
#define CP_RECORD_SUMMARY_H

#include "record/record_kinds.h"

#include <stdbool.h>

typedef struct cp_child cp_child;
typedef struct cp_profile cp_profile;
typedef struct cp_session cp_session;

typedef struct cp_record_summary {
    const cp_session *session;
    const cp_child *child;
    const char *command; /* NULL: a process that ran already */
    bool has_own_rates;  /* the process had them before, and cpprof does not change that of heap */
    unsigned written;    /* the number of profiles that were written */
    bool failed;         /* a profile could not be written, and that was reported */
    bool incomplete;     /* the profile of a kind is missing or could not be written */
    bool shown[CP_RECORD_KINDS_MAX];
    const char *sample[CP_RECORD_KINDS_MAX]; /* what it showed instead of the usual type, or NULL */
} cp_record_summary;

/* Prints on stderr where the profile is, the library's comments on losses, and the top ten. Changes
 * the profile. */
void cp_record_summarize(cp_record_summary *summary, size_t kind, cp_profile *profile);

/* Warns of an older file with the output's name, if no profile of the kind arrived. */
void cp_record_say_missing(const cp_record_summary *summary, size_t kind);

/* Tells of the command's children, with --no-subprocesses, if they used most of the CPU time. */
void cp_record_advise(const cp_record_summary *summary);

void cp_record_print_next(const cp_record_summary *summary);

#endif
