/* SPDX-License-Identifier: MIT
 *
 * record_summary.h: what `cpprof record` says at the end: for each profile the ten functions that
 * matter most, and then what to type next.
 */
#ifndef CPPROF_RECORD_SUMMARY_H
#define CPPROF_RECORD_SUMMARY_H

#include "record_kinds.h"

#include <stdbool.h>

struct pp_child;
struct pp_profile;
struct pp_session;

struct pp_record_summary {
    const struct pp_session *session;
    const struct pp_child *child;
    unsigned written; /* profiles that there are */
    bool failed;      /* one could not be put in its place, and that was said */
    bool incomplete;  /* there is none of a kind, or it could not be put in its place */
    bool shown[PP_RECORD_KINDS_MAX];
};

/* On stderr: where the profile is, its troubles, its top. The profile is changed. */
void pp_record_summarize(struct pp_record_summary *summary, size_t kind,
                         struct pp_profile *profile);

/* Of a kind of which nothing arrived: an older file of its name must not be taken for it. */
void pp_record_say_missing(const struct pp_record_summary *summary, size_t kind);

/* Where the time was, if it was not in the command itself. */
void pp_record_advise(const struct pp_record_summary *summary);

void pp_record_print_next(const struct pp_record_summary *summary);

#endif
