/* SPDX-License-Identifier: MIT
 *
 * interval.h: calls a function again and again, for the option `interval`, on a thread of the
 * library that blocks all signals and that no profile shows. A process without an interval has no
 * such thread.
 *
 * Zone: NORMAL.
 * Owns: the thread.
 */
#ifndef PP_HOST_INTERVAL_H
#define PP_HOST_INTERVAL_H

#include <stdint.h>

/* Calls work() each time that this much time has passed; a call that takes longer than that is
 * followed by the next one whose time comes. 0, -EBUSY while there is an interval, or -errno of
 * creating a thread. */
int pp_interval_begin(uint64_t interval_ns, void (*work)(void));

/* Ends the thread, and waits for it. work() must not call this. */
void pp_interval_cancel(void);

/* In the child of fork, which does not have the thread. */
void pp_interval_after_fork(void);

#endif
