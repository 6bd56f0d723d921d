/* SPDX-License-Identifier: MIT
 *
 * threads.h: the hooks of pthread_create and thrd_create, which see threads begin and end.
 *
 * Zone: NORMAL.
 * Locks: one for the records of threads that are being started; taken while no other lock is held.
 * Owns: these records; one pthread key.
 */
#ifndef PP_HOST_THREADS_H
#define PP_HOST_THREADS_H

/* Called once when the library is loaded: makes the key, and declares the main thread's stack. */
void pp_hook_threads_init(void);

/* The calling thread becomes libpprof's own (pp_thread_leave), and its end is seen, although it may
 * have been created past our hooks. */
void pp_hook_thread_leave(void);

/* In the child of fork. */
void pp_hook_threads_after_fork(void);

#endif
