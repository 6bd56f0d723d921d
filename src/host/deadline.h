/* SPDX-License-Identifier: MIT
 *
 * deadline.h: calls a function at the end of the option `duration`. The end of the process would be
 * too late: SIGKILL leaves no time to write a profile, nor does a crash without the option `crash`.
 *
 * A signal at that time would interrupt the program's calls. So a thread of the library waits, and
 * ends after the call. The thread blocks all signals, and no profile shows it. A process without a
 * duration has no such thread.
 *
 * Zone: NORMAL.
 * Owns: the thread.
 */
#ifndef PP_HOST_DEADLINE_H
#define PP_HOST_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* Calls over() once, when CLOCK_MONOTONIC shows `at_ns`. 0, -EBUSY while another deadline has not
 * passed, or -errno of creating a thread. */
int pp_deadline_begin(uint64_t at_ns, void (*over)(void));

/* Ends the thread, whether or not it has called over(), and waits for it. over() must not call
 * this. */
void pp_deadline_cancel(void);

/* Whether all threads of the program have ended, the first one by pthread_exit(). Such a process
 * ends with its last thread, which must not be one of libpprof's. */
bool pp_deadline_is_alone(void);

/* In the child of fork, which does not have the thread. */
void pp_deadline_after_fork(void);

#endif
