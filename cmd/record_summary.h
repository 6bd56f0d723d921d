/* SPDX-License-Identifier: MIT
 *
 * record_summary.h: what `cpprof record` says at the end: for each profile the ten functions that
 * matter most, and then what to type next.
 */
#ifndef CP_RECORD_SUMMARY_H
#define CP_RECORD_SUMMARY_H

#include "record_kinds.h"

#include <stdbool.h>

typedef struct cp_child cp_child;
typedef struct cp_profile cp_profile;
typedef struct cp_session cp_session;

typedef struct cp_record_summary {
    const cp_session *session;
    const cp_child *child;
    unsigned written; /* profiles that there are */
    bool failed;      /* one could not be put in its place, and that was said */
    bool incomplete;  /* there is none of a kind, or it could not be put in its place */
    bool shown[CP_RECORD_KINDS_MAX];
} cp_record_summary;

/* On stderr: where the profile is, its troubles, its top. The profile is changed. */
void cp_record_summarize(cp_record_summary *summary, size_t kind, cp_profile *profile);

/* Of a kind of which nothing arrived: an older file of its name must not be taken for it. */
void cp_record_say_missing(const cp_record_summary *summary, size_t kind);

/* Where the time was, if it was not in the command itself. */
void cp_record_advise(const cp_record_summary *summary);

void cp_record_print_next(const cp_record_summary *summary);

#endif
