/* SPDX-License-Identifier: MIT
 *
 * record_progress.h: a line on the terminal with the progress of a recording.
 *
 * There is a line only if standard error is a terminal, cpprof is in the foreground, and the
 * terminal is in line mode: an editor or a pager needs the whole screen.
 */
#ifndef CP_RECORD_PROGRESS_H
#define CP_RECORD_PROGRESS_H

#include "record/record_child.h"

#include <stdint.h>

typedef struct cp_progress {
    bool enabled;
    bool with_children; /* count the CPU time of processes for which the command waited, too */
    bool drawn;         /* the line is on the screen */
    int64_t start_ns;
} cp_progress;

void cp_progress_init(cp_progress *progress, bool with_children);

/* This function is a cp_child_watcher; ctx is the cp_progress. */
void cp_progress_watch(void *ctx, const cp_child *child, cp_child_event event);

#endif
