/* SPDX-License-Identifier: MIT
 *
 * otel.h: the option `otel`: readers outside of the process learn what it is, and which labels its
 * threads have (store/process_context.h, store/thread_context.h; docs/OTEL.md).
 *
 * Zone: NORMAL.
 * Locks: callers hold the lock of all_kinds.h.
 * Owns: what was asked for.
 */
#ifndef PP_API_OTEL_H
#define PP_API_OTEL_H

#include <stdbool.h>

/* The value of the word: "process"; "thread" or NULL: both. 0 or -EINVAL. */
int pp_otel_take(const char *value);

/* Publishes what was asked for and is not published. 0 or -errno; the log says why. */
int pp_otel_start(void);

/* In the child of fork, which has nothing published. */
void pp_otel_after_fork_in_child(bool goes_on);

/* The program's new filter may kill for what an update calls: there are no more. */
void pp_otel_before_confinement(void);

/* While cpprof is attached: what was asked for meanwhile ends with it. */
void pp_otel_attached_begin(void);
void pp_otel_attached_end(void);

#endif
