/* SPDX-License-Identifier: MIT
 *
 * deadline.h: the end of the duration that was asked for: a function is called then, and not only
 * when the process ends, since that may be by SIGKILL, SIGSEGV or SIGABRT, which leave no time to
 * write a profile.
 *
 * Somebody has to be awake then. A signal would interrupt the program's calls, so a thread of ours
 * waits, and ends after the call. It has all signals blocked and is in none of the profiles. It
 * exists only where a duration was asked for.
 *
 * Zone: NORMAL.
 * Owns: the thread.
 */
#ifndef PP_HOST_DEADLINE_H
#define PP_HOST_DEADLINE_H

#include <stdint.h>

/* over() is called once CLOCK_MONOTONIC shows `at_ns`. 0, -EBUSY while another deadline is waited
 * for, or -errno of creating a thread. */
int pp_deadline_begin(uint64_t at_ns, void (*over)(void));

/* The thread is gone after it, whether or not it has called. Not from over(). */
void pp_deadline_cancel(void);

/* In the child of fork, which does not have the thread. */
void pp_deadline_after_fork(void);

#endif
