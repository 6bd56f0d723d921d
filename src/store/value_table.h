/* SPDX-License-Identifier: MIT
 *
 * value_table.h: the values of a named profile, each with the stack that added it.
 *
 * The table consists of 64 hash tables with linear probing (shards), so that two threads seldom
 * need the same one. Each shard begins with a small array, takes larger ones from the kernel as it
 * fills, and shrinks again. A slot that loses its value becomes free at once if the next slot is
 * free; otherwise searches pass over it until the array is replaced.
 *
 *   shard[hash] -> { count, used, slots } -> [ value, stack, labels ][ ... ]   24 bytes each
 *
 * A shard is full to three quarters at most and, if it has grown, to three eighths at least: a
 * value takes 32 to 64 bytes. Stacks are in the trie (stack_trie.h).
 *
 * One store of its stack fills a slot, and another such store empties it; one store of its address
 * replaces an array. So the values are right at whatever instruction a thread is. The child of fork
 * depends on this, because other threads may have been anywhere.
 *
 * Zone: HOOK.
 * Locks: one for each shard, held for a look-up, for an array's replacement or for a snapshot. A
 *        snapshot first takes the lock that only snapshots take, then all shards in order. It
 *        releases each shard once it has read it, so it sees the state at the moment when it held
 *        them all. A count is a snapshot, too. Signals stay unblocked: handlers must not call these
 *        functions.
 * Owns: the tables, for ever.
 */
#ifndef PP_STORE_VALUE_TABLE_H
#define PP_STORE_VALUE_TABLE_H

#include "store/stack_trie.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pprof_labels;

typedef struct pp_value_table pp_value_table;

typedef struct pp_value {
    uintptr_t value; /* any word */
    const pp_trie_stack *stack;
    struct pprof_labels *labels; /* or NULL; the value owns the reference */
} pp_value;

/* Returns NULL if the kernel refuses memory. */
pp_value_table *pp_value_table_new(void);

/* Frees a table that has no values and that no other thread knows. */
void pp_value_table_free(pp_value_table *table);

/* Returns 0, -EEXIST (the table has this value already) or -ENOMEM. */
int pp_value_table_add(pp_value_table *table, const pp_value *value);

/* Removes `value` and stores it in *removed. False if the table does not have it. */
bool pp_value_table_remove(pp_value_table *table, uintptr_t value, pp_value *removed);

/*
 * Returns the number of values at one moment, as pp_value_table_each() would find them. If a thread
 * removes one value and adds another, the count includes neither change, the first, or both, and
 * never only the second.
 */
size_t pp_value_table_count(pp_value_table *table);

/* Counts without a lock, for a caller that needs room for the values. Exact while no thread adds or
 * removes. */
size_t pp_value_table_estimate(const pp_value_table *table);

/*
 * Calls `visit` for every value, as the values are at one moment. Other threads wait meanwhile, so
 * `visit` has to be quick, and must not call functions of this file. Returns false, without a call,
 * if there are more than `capacity` values. Before that, waiting threads go first.
 */
typedef void pp_value_visit(const pp_value *value, void *context);
bool pp_value_table_each(pp_value_table *table, size_t capacity, pp_value_visit *visit,
                         void *context);

/* The memory of the table, without stacks and labels. */
size_t pp_value_table_bytes(pp_value_table *table);

/* Releases, in the child of fork, the locks that other threads held, and counts again. */
void pp_value_table_after_fork_in_child(pp_value_table *table);

#endif
