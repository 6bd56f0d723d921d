/* SPDX-License-Identifier: MIT
 *
 * push_deltas.h: the profiles that the option push= sends at an interval.
 *
 *   what accumulates (CPU, waits, allocations)   what was added since the last time
 *   what is in use, threads, descriptors         as it is
 *
 * What was added belongs to no HTTP client, and no client has a part of it: all profiles that were taken
 * add up to what the program's own profile shows.
 *
 * Zone: NORMAL.
 * Locks: none; one thread at a time.
 * Owns: the last snapshot of each profile that accumulates.
 */
#ifndef PP_WEB_PUSH_DELTAS_H
#define PP_WEB_PUSH_DELTAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_push_taken {
    const char *kind; /* stays valid */
    const void *data; /* gzipped profile.proto, until the return */
    size_t size;
    int64_t begin_ns, end_ns; /* since 1970 */
} pp_push_taken;

/* Takes a profile; false: it does not, and the next one shall have what this one has. */
typedef bool pp_push_take(const pp_push_taken *taken, void *context);

/* What was recorded before the first difference counts from now. */
void pp_push_deltas_begin(void);

/* Whether anything is recorded that could be pushed. */
bool pp_push_deltas_has_any(void);

/* Calls `take` with each profile that is recorded and has something in it. */
void pp_push_deltas_collect(pp_push_take *take, void *context);

/* What was recorded until now is not pushed. */
void pp_push_deltas_skip(void);

/* In the child of fork, whose threads all of this has left. */
void pp_push_deltas_after_fork_in_child(void);

#endif
