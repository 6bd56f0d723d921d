/* SPDX-License-Identifier: MIT
 *
 * leak_doubts.h: leaves out the blocks that may be in the registers of a thread.
 *
 * A thread that waits in the kernel has the registers of its callers saved there, where nobody sees
 * them. One of them may be the only pointer to a block, and so to all that the block refers to. A
 * thread holds one block of a place of allocation, hardly ever two: a register that a loop fills
 * again loses what it had. So of each place, as many lost structures are in doubt as there are
 * other threads with the same outermost frames. A place that has lost more is leaking.
 *
 * A structure is a strongly connected component of the edges to which no other one refers: a list
 * counts once, by its head, and so does a ring.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_HEAP_LEAK_DOUBTS_H
#define PP_KINDS_HEAP_LEAK_DOUBTS_H

#include "kinds/heap/leak_blocks.h"
#include "threads/thread_snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether other threads may be looked at, which takes system calls that a sandbox may forbid. At
 * first they may not. */
void pp_leak_doubts_permit(bool look);

/* Reads the threads, marks blocks in doubt, and what they refer to, as reached, and returns their
 * number. During the pass (`arena` is its own). Without memory everything is in doubt. */
uint32_t pp_leak_doubts_leave_out(pp_leak_blocks *blocks, pp_arena *arena);

/* pp_leak_doubts_leave_out_of() does so with the threads of a snapshot, whose rows from `first_other` on are not the
 * calling one's, and with `unseen` others. */
uint32_t pp_leak_doubts_leave_out_of(pp_leak_blocks *blocks, const pp_threads *threads,
                                     size_t first_other, uint32_t unseen, pp_arena *arena);

#endif
