/* SPDX-License-Identifier: MIT
 *
 * live_table.h: the table of live sampled blocks: maps an address to the block's record.
 *
 * The table has slots in groups of eight, whose keys fill a cache line. An address may be in either
 * of two groups, so that there are no chains, and the slot of a removed entry is simply free again.
 * When both groups of an address are full, a thread adds a level that is as large as all levels
 * together. Entries never move: a search reads each level.
 *
 *   levels[0]  keys [8][8] ... values [8][8] ... births [8][8] ...   128 groups
 *   levels[1]  keys [8][8][8][8] ...                                 128 groups
 *   levels[2]  ...                                                   256 groups, and so on
 *
 *   key:  63    62 .... 57     56 ............ 0
 *         busy  filter's       address              0 = free
 *               generation
 *
 * An address belongs to one block at a time. The thread that allocated the block makes the entry
 * before any other thread knows the address. The thread that frees the block removes the entry
 * before the allocator can return the address again. Each block takes 20 to 40 bytes, half as much
 * more from pp_live_table_keep_births() on.
 *
 * Zone: HOOK.
 * Locks: none. One flag keeps two threads from growing the filter at once; nobody waits for it.
 * Owns: the levels, for ever.
 */
#ifndef PP_KINDS_HEAP_LIVE_TABLE_H
#define PP_KINDS_HEAP_LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be called before all other functions of this file; may be called again. */
void pp_live_table_init(void);

/*
 * Stores `value` (any word) for the address, which must not be 0 and must not have an entry. False
 * if the kernel refuses memory.
 */
bool pp_live_table_insert(uintptr_t address, uint64_t value);

/* pp_live_table_insert_again() does the same for a block that was born at `birth_ns`. */
bool pp_live_table_insert_again(uintptr_t address, uint64_t value, uint64_t birth_ns);

/* Removes the entry, and stores its value. False if there is none. Callers ask
 * pp_live_filter_may_have() first, which is cheaper. */
bool pp_live_table_remove(uintptr_t address, uint64_t *value);

/* Removes each entry for which `takes` returns true; calls it with the value. Entries that are made
 * meanwhile may stay. */
void pp_live_table_remove_all(bool (*takes)(uint64_t value));

/* From now on the table has the time of each entry that is made. */
void pp_live_table_keep_births(void);

/* Returns the time of the address's entry; 0: not known, or there is no entry. The caller excludes
 * that the entry changes meanwhile. */
uint64_t pp_live_table_birth(uintptr_t address);

typedef struct pp_live_entry {
    uintptr_t address;
    uint64_t value;
    uint64_t birth_ns; /* CLOCK_MONOTONIC; 0: not known */
} pp_live_entry;

/* Calls `visit` for each entry. Entries that are made or removed meanwhile may be missing. */
typedef void pp_live_table_visit(const pp_live_entry *entry, void *context);
void pp_live_table_each(pp_live_table_visit *visit, void *context);

/* Reads the entry of the address. False if there is none, or it changes at this moment. */
bool pp_live_table_find(uintptr_t address, pp_live_entry *entry);

/* The memory of level `index`, from 0 on. False: there is no such level. */
bool pp_live_table_memory(uint32_t index, uintptr_t *start, size_t *bytes);

/* The number of entries; the bytes of the table and of the filter. */
size_t pp_live_table_count(void);
size_t pp_live_table_bytes(void);

/* In the child of fork: finishes a growth that another thread had begun. */
void pp_live_table_after_fork_in_child(void);

#endif
