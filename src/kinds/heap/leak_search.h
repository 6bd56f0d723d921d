/* SPDX-License-Identifier: MIT
 *
 * leak_search.h: finds sampled blocks to which nothing refers any more (docs/LEAKS.md).
 *
 *   blocks --> pass: all memory is read once --> candidates --> pass ... --> still the same block?
 *
 * The program runs on meanwhile. A pointer that moves may be missed by one pass: each pass looks
 * for the blocks that all passes before it have missed. In a process with one thread, one pass is
 * exact.
 *
 * The registers of other threads cannot be seen. So a place of allocation that has lost no more
 * blocks than there are such threads with its outermost frames is not reported: the blocks may be in
 * registers.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: one search at a time; a second one waits for some seconds.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_HEAP_LEAK_SEARCH_H
#define PP_KINDS_HEAP_LEAK_SEARCH_H

#include "base/arena.h"
#include "kinds/heap/leak_blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_leaks {
    pp_leak_blocks blocks; /* those that are not `reached` are leaked */
    uint64_t now_ns;       /* CLOCK_MONOTONIC at the start */
    unsigned passes;
    uint64_t bytes_read, bytes_swapped, bytes_refused; /* of the last pass */
    bool knows_swapped;
    uint32_t moved;    /* blocks that only a later pass has found */
    uint32_t in_doubt; /* that may be in registers, and what only they refer to */
} pp_leaks;

/* Searches. 0, -ENOMEM, -EBUSY if another search does not end, or -errno if /proc cannot be read. */
int pp_leaks_find(pp_arena *arena, pp_leaks *leaks);

/* In the child of fork. */
void pp_leaks_after_fork_in_child(void);

#endif
