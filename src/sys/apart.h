/* SPDX-License-Identifier: MIT
 *
 * apart.h: opens files where no thread of the program can close them, or take their numbers.
 *
 * The program may close any descriptor at any time, or all of them, and open its own file under the
 * same number. A descriptor that the library holds meanwhile would be this file from then on. So a
 * function that opens files runs on a thread that has a table of descriptors of its own, while the
 * caller waits. This thread has the stack and the thread-local storage of the caller, and acts for
 * the caller: pp_task_self() is the caller's id, and locks of the caller are its own. It lives as
 * long as the function runs, and no profile shows it.
 *
 *   caller:  block signals --> clone ............................. wait until it is gone --> go on
 *   thread:              `-> close_range(CLOSE_RANGE_UNSHARE) --> function --> exit
 *
 * A process with one thread needs none: its signals are blocked, so no code of the program runs.
 *
 * The new table is empty, but for stderr (sys/log.h) and the socket of `cpprof record`: the program's
 * pipes and sockets are not held. A path that leads to a descriptor of the program (/dev/fd/3) works:
 * /proc/self is the first thread.
 *
 * A thread of the library that no code of the program runs on leaves the program's table when it
 * begins: pp_apart() then calls at once.
 *
 * Zone: SIGNAL (it waits for its own thread only).
 * Owns: whether this is permitted, and which descriptor the new table keeps.
 */
#ifndef PP_SYS_APART_H
#define PP_SYS_APART_H

#include <stdbool.h>

/* Calls function(argument) as above. Where it is not permitted, or the kernel refuses, calls it on
 * the calling thread. Calls inside of the function call at once. errno is preserved. */
void pp_apart(void (*function)(void *argument), void *argument);

/* Calls function(argument) on the calling thread, with all signals blocked: it opens descriptors that
 * stay in the program's table. */
void pp_apart_stay(void (*function)(void *argument), void *argument);

/* Until pp_apart_resume(), functions run on the calling thread, with its signals: a signal may have to
 * end them. */
void pp_apart_suspend(void);
void pp_apart_resume(void);

/*
 * The calling thread, one of the library's own, gets a table of its own for good, with the program's
 * descriptor `kept` (-1: none). Its messages still go to the program's stderr (sys/log.h). False where
 * that is not permitted, or after pp_apart_stay_all(): it still has the program's. pp_apart_end()
 * belongs to its end.
 */
bool pp_apart_leave(int kept);
void pp_apart_end(void);

/* Whether a thread of the library could leave the program's table now. */
bool pp_apart_may_leave(void);

/* From now on no thread leaves the program's table for good: descriptors stay open in it that any
 * thread of the library may have to close. False if one has left. */
bool pp_apart_stay_all(void);

/* In the child of fork, which has none of the library's threads. */
void pp_apart_after_fork_in_child(void);

/* Whether the calling thread's descriptors are the library's own. */
bool pp_apart_has_table(void);

/* Around the life of a child process that has the marks of the caller, which waits: the child's descriptors are a
 * copy that no code of the program uses. The second one gets what the first one returned. */
unsigned pp_apart_before_child(void);
void pp_apart_after_child(unsigned before);

/* In a thread with a table of its own: a copy of the program's descriptor `fd` in it, or -errno: the
 * first thread has ended, Linux is older than 5.6, a filter refuses it. */
int pp_apart_fetch(int fd);

/* Around a system call for which the kernel holds the program's open files: a socket that the program closes meanwhile keeps
 * its port until the call has returned. The caller has blocked its signals. */
void pp_apart_hold(void);
void pp_apart_release(void);

/* After the program has closed a descriptor: waits until no such call is made, for a tenth of a second at most. For the
 * slow path of a hook; errno is preserved. */
void pp_apart_wait_for_release(void);

/* Permits what pp_apart() does, or forbids it: a filter may kill for it. Forbidden at first. */
void pp_apart_permit(bool permitted);

/* New tables keep this descriptor of the program; -1: none. */
void pp_apart_keep(int fd);

/* Tries on the calling thread, which may be killed for it: whether pp_apart() would work. */
bool pp_apart_try(void);

#endif
