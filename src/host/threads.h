/* SPDX-License-Identifier: MIT
 *
 * threads.h: the hooks of pthread_create and thrd_create, which see threads begin and end.
 *
 * Zone: NORMAL.
 * Owns: one pthread key.
 */
#ifndef PP_HOST_THREADS_H
#define PP_HOST_THREADS_H

/* Called once when the library is loaded: makes the key, and declares the main thread's stack. */
void pp_hook_threads_init(void);

/* The calling thread becomes libpprof's own (pp_thread_leave), and its end is seen, although it may
 * have been created past our hooks. */
void pp_hook_thread_leave(void);

#endif
