/* SPDX-License-Identifier: MIT
 *
 * record_progress.h: one line on the terminal that says how far a recording is.
 *
 * Only if standard error is a terminal on which cpprof is in the foreground, and only while the
 * terminal works by lines: an editor or a pager has the screen for itself.
 */
#ifndef CP_RECORD_PROGRESS_H
#define CP_RECORD_PROGRESS_H

#include "record_child.h"

#include <time.h>

typedef struct cp_progress {
    bool enabled;
    bool with_children; /* count the CPU time of processes that the command waited for */
    bool drawn;         /* the line is on the screen */
    struct timespec start;
} cp_progress;

void cp_progress_init(cp_progress *progress, bool with_children);

/* A cp_child_watcher; ctx is the cp_progress. */
void cp_progress_watch(void *ctx, const cp_child *child, cp_child_event event);

#endif
