/* SPDX-License-Identifier: MIT
 *
 * idle_filter.h: --ignore-idle: leaves out of a wall-clock profile what threads wait for work.
 *
 * Such waits are found by the label `state` and by names on the stack (docs/WALL.md):
 *
 *   poll    any, unless a function is there that waits for the answer to a request
 *   lock    a wait for a condition or a semaphore that a thread's own function calls, at most
 *           three calls deep; pthread_join
 *   net     accept
 *   other   sigwait, pause and the like
 */
#ifndef CP_IDLE_FILTER_H
#define CP_IDLE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_profile cp_profile;

typedef struct cp_idle {
    bool has_states; /* a sample has the label; else it is no wall-clock profile */
    int64_t value;   /* what was left out: the sum of absolute values of one sample type */
} cp_idle;

/* Removes idle samples from the profile, in place. */
cp_idle cp_profile_filter_idle(cp_profile *profile, uint32_t value_index);

#endif
