/* SPDX-License-Identifier: MIT
 *
 * threads.h: knows when threads begin and end.
 *
 * Zone: NORMAL.
 * Locks: one for the records of threads that are being started; taken with nothing else held.
 * Owns: these records, one pthread key.
 */
#ifndef PP_HOST_THREADS_H
#define PP_HOST_THREADS_H

/* Called once when the library is loaded: makes the key, notes the main thread's stack. */
void pp_hook_threads_init(void);

/* In the child of fork. */
void pp_hook_threads_after_fork(void);

#endif
