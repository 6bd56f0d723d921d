/* SPDX-License-Identifier: MIT
 *
 * single_thread.h: libc goes on as in a program of one thread beside a thread of the library.
 *
 * With pthread_create(3) libc begins to take locks by atomic instructions, and to prepare each call that may wait for
 * a cancellation: nginx serves 2 % fewer requests for a thread that only sleeps. A thread that calls no function of libc that
 * takes locks or allocates need not cost that. What libc believes is in __libc_single_threaded (glibc 2.32, for
 * libraries that count references). Before such a thread asks the loader after all, libc has to know of it:
 *
 *   begin ... end      the thread is created; libc does not know of it any more
 *   tell, hide_again   libc knows of it in between
 *   may_lock           libc is told -> not yet ... the program's thread has run for a second since: it has left what it
 *                      began in libc as the only thread -> yes, from now on
 *
 * Zone: NORMAL.
 * Owns: the variable, and who knows of it.
 * Tested by: unit.single_thread, e2e.wall
 */
#ifndef PP_MODULES_SINGLE_THREAD_H
#define PP_MODULES_SINGLE_THREAD_H

#include <stdbool.h>

/* The calling thread is about to create such a thread. Whether libc takes it for the only one: then pp_single_thread_end()
 * follows. False also if libc does not say. */
bool pp_single_thread_begin(void);

/* The thread is created, or could not be. */
void pp_single_thread_end(void);

/* Whether the created thread, which calls this, may call a function of libc that takes locks. If not, it asks again later. */
bool pp_single_thread_may_lock(void);

/* The program is about to change its identity: libc has to do it for each thread that it knows (setuid(3)). True: libc did not
 * know of the other thread, and pp_single_thread_hide_again() follows. Zone: HOOK. */
bool pp_single_thread_tell(void);

/* The identity is changed. Zone: HOOK. */
void pp_single_thread_hide_again(void);

/* In the child of fork, which has one thread. */
void pp_single_thread_after_fork_in_child(void);

#endif
