/* SPDX-License-Identifier: MIT
 *
 * live_table.h: which sampled blocks are alive: from an address to what was recorded of it.
 *
 * A table of slots in groups of eight, whose keys fill a cache line. An address may stand in either
 * of two groups, so that there is nothing to follow and a removed entry leaves nothing behind: its
 * slot is empty again. When both groups of an address are full, a further level is added, as large
 * as all that there are together. Nothing is ever moved: a look-up asks each level.
 *
 *   levels[0]  keys [8][8] ... values [8][8] ...      128 groups
 *   levels[1]  keys [8][8][8][8] ...                  128 groups
 *   levels[2]  ...                                    256 groups, and so on
 *
 *   key:  63    62 .... 57     56 ............ 0
 *         busy  filter's       address              0 = free
 *               generation
 *
 * An address belongs to one block at a time, so that its entry is made by the thread that allocated
 * it, before anybody else knows the address, and removed by the one that frees it, before the
 * allocator can give it out again. 20 to 40 bytes of memory a block.
 *
 * Zone: HOOK.
 * Locks: none; one flag keeps two threads from growing the filter at once, nobody waits for it.
 * Owns: the levels, for ever.
 */
#ifndef PP_KINDS_HEAP_LIVE_TABLE_H
#define PP_KINDS_HEAP_LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before anything else here. Can be called again. */
void pp_live_table_init(void);

/*
 * Remembers `value` (any word) for the address, which must not be 0 nor have an entry yet. False if
 * the kernel refuses memory.
 */
bool pp_live_table_insert(uintptr_t address, uint64_t value);

/* Takes the entry out. False if there is none. Ask pp_live_filter_may_have() first: it
 * is cheaper. */
bool pp_live_table_remove(uintptr_t address, uint64_t *value);

/* How many entries there are, and what they cost. */
size_t pp_live_table_count(void);
size_t pp_live_table_bytes(void);

/* In the child of fork: finishes what other threads had begun. */
void pp_live_table_after_fork_in_child(void);

#endif
