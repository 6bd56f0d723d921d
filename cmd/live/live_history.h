/* SPDX-License-Identifier: MIT
 *
 * live_history.h: the profiles of one view that matter for the next table, and the profile of a
 * window between two of them.
 *
 *   first      before     last          each counts from the same moment on
 *     |           |---------|           the last window
 *     |---------------------|           since cpprof began
 *
 * One window ends where the next begins, so that the windows add up to the whole.
 *
 * Owns: the bytes of the profiles.
 */
#ifndef CP_LIVE_HISTORY_H
#define CP_LIVE_HISTORY_H

#include "live/live_views.h"
#include "profile/protobuf.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

typedef struct cp_live_snapshot {
    cp_bytes bytes; /* empty: nothing was counted yet */
    bool is_there;
    int64_t time_ns;     /* wall clock: when the counts began */
    int64_t duration_ns; /* since then; 0: the profile does not say */
    int64_t at_ns;       /* monotonic */
    uint32_t samples;    /* of the profile: stacks, with their labels */
} cp_live_snapshot;

/* Begins as zeros. */
typedef struct cp_live_history {
    cp_live_snapshot first, before, last;
} cp_live_history;

/* Takes the bytes of a profile that came at `at_ns`, and leaves *bytes empty. Returns 0, or -1 with
 * a sentence if they are no profile; the history is as before then. */
int cp_live_history_add(cp_live_history *history, cp_live_kind kind, cp_bytes *bytes, int64_t at_ns,
                        cp_error *error);
void cp_live_history_release(cp_live_history *history);

/* The shortest time between two answers of which the process does not notice the cost: a hundred
 * times what it takes to write the last one. */
int64_t cp_live_history_pace(const cp_live_history *history);

/* Makes the profile of the last window, or of all since the first profile; to be freed. Its length
 * is in *elapsed_ns; 0 if the profile shows how things are. Returns 0; 1 if the first window is not
 * over; -1 with a sentence. */
int cp_live_history_window(const cp_live_history *history, cp_live_kind kind, bool since_start,
                           cp_profile **profile, int64_t *elapsed_ns, cp_error *error);

#endif
