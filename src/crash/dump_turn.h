/* SPDX-License-Identifier: MIT
 *
 * dump_turn.h: which thread writes a dump of all stacks now. One does at a time.
 *
 *   free --(SIGQUIT)--> a thread dumps --> free
 *     \---(a crash)--> a thread dumps, and ends the process: its turn never ends
 *
 * Without the library, a crash ends the process at once. With it, the other threads run on while
 * the dump is written. They must not end the process in another way meanwhile: they wait.
 *
 * Zone: SIGNAL (system calls only). The functions that wait do so by bare system calls.
 * Owns: the turn.
 */
#ifndef PP_CRASH_DUMP_TURN_H
#define PP_CRASH_DUMP_TURN_H

#include <stdbool.h>
#include <stdint.h>

/* A dump takes no longer: crash.c ends it then. */
#define PP_DUMP_PATIENCE_NS UINT64_C(30000000000)

/* Takes the turn for thread `self`, or returns false: another thread has it, or this one. */
bool pp_dump_turn_try(int self);

/* pp_dump_turn_try(), but waits for the end of a dump after which the process goes on. False: no
 * such end came within the time that a dump may take. */
bool pp_dump_turn_wait(int self);

bool pp_dump_turn_is_of(int self);
void pp_dump_turn_end(void);

/* The process ends by the crash of the calling thread, which has the turn. */
void pp_dump_turn_is_last(void);

/* Another thread's crash ends the process: does not return before that, or before a little more
 * than the time that a dump may take. If there is no such crash, returns at once. */
void pp_dump_turn_let_crash(void);

/* In the child of fork. */
void pp_dump_turn_after_fork(void);

#endif
