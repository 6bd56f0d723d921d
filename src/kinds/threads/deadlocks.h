/* SPDX-License-Identifier: MIT
 *
 * deadlocks.h: the text that shows which threads wait for each other for ever.
 *
 *   deadlock: 2 threads wait for each other
 *           thread 11 "left" waits for mutex 0x55... held by thread 12 "right"
 *           thread 12 "right" waits for mutex 0x55... held by thread 11 "left"
 *
 *   thread 11 "left" [futex, mutex 0x55... held by thread 12 "right"]:
 *   ...                                                     stacks in full, as thread_text.h has them
 *
 *   lost: a thread waits for a lock whose holder has ended
 *           thread 13 "orphan" waits for mutex 0x55... held by thread 9, which has ended
 *   ...
 *   waiting: a thread waits for a lock
 *           thread 14 "behind" waits for mutex 0x55... held by thread 11 "left"
 *
 * If there is neither a deadlock nor a lost lock, the first line is "no deadlock".
 *
 * Zone: NORMAL.
 */
#ifndef PP_KINDS_THREADS_DEADLOCKS_H
#define PP_KINDS_THREADS_DEADLOCKS_H

#include "pprof.h"

/* Takes a snapshot and writes the text. 0 or -errno. */
int pp_deadlocks_write(pprof_writer writer);

#endif
