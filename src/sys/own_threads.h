/* SPDX-License-Identifier: MIT
 *
 * own_threads.h: the ids of libpprof's own threads, which no profile shows.
 *
 * Zone: SIGNAL.
 * Owns: the list, of eight; further threads are profiled like the program's.
 */
#ifndef PP_SYS_OWN_THREADS_H
#define PP_SYS_OWN_THREADS_H

#include <stdbool.h>

/* Replaces an id by another one; 0: by nothing, or nothing by it. */
void pp_own_threads_replace(int from, int to);

/* Whether `tid` is in the list, and how many are. */
bool pp_own_threads_have(int tid);
unsigned pp_own_threads_count(void);

#endif
