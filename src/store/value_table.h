/* SPDX-License-Identifier: MIT
 *
 * value_table.h: the values of a named profile, and at which stack each was added.
 *
 * Hash tables with linear probing, 64 of them, so that threads seldom want the same one. Each has a
 * small array to begin with, and larger ones from the kernel as it fills; it shrinks again. A slot
 * that is given up becomes free at once where the next one is free, else it stays passable until
 * the array is replaced.
 *
 *   shard[hash] -> { count, used, slots } -> [ value, stack, labels ][ ... ]   24 bytes each
 *
 * Full to three quarters at most and, if it has grown, to three eighths at least: 32 to 64 bytes a
 * value. Stacks are in the trie (stack_trie.h).
 *
 * A slot is taken by the store of its stack, and given up by another one; an array is replaced by
 * the store of its address. So whatever instruction a thread has come to, the values are right:
 * that is how the child of fork finds what other threads have left.
 *
 * Zone: HOOK.
 * Locks: one for each shard, held for a look-up, for an array's replacement or for a snapshot. A
 *        snapshot takes all, in order, after the lock that only snapshots take, and gives up each as soon
 *        as it has been read: what it has seen is the state in which it had them all. A count is a snapshot, too.
 *        Signals stay open: not for handlers.
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
    struct pprof_labels *labels; /* or NULL; the reference goes with the value */
} pp_value;

/* NULL if the kernel refuses memory. */
pp_value_table *pp_value_table_new(void);

/* One that nobody else knows and that has no values. */
void pp_value_table_free(pp_value_table *table);

/* 0, -EEXIST (there is such a value) or -ENOMEM. */
int pp_value_table_add(pp_value_table *table, const pp_value *value);

/* Takes it out, into *removed. False if it is not there. */
bool pp_value_table_remove(pp_value_table *table, uintptr_t value, pp_value *removed);

/*
 * How many values there are at one moment, as pp_value_table_each() would find them. A thread that
 * removes a value and adds another one is seen before, between or after the two, and never with the
 * second change alone.
 */
size_t pp_value_table_count(pp_value_table *table);

/* The same without a lock, to make room by. Exact while nobody adds or removes. */
size_t pp_value_table_estimate(const pp_value_table *table);

/*
 * Calls back for every value, as they are at one moment: others wait meanwhile, so the callback has
 * to be quick, and must not come here. False, and no call was made, if there are more than
 * `capacity`. Before it begins, it lets those in who wait.
 */
typedef void pp_value_visit(const pp_value *value, void *context);
bool pp_value_table_each(pp_value_table *table, size_t capacity, pp_value_visit *visit,
                         void *context);

/* What it takes, stacks and labels apart. */
size_t pp_value_table_bytes(pp_value_table *table);

/* In the child of fork: what other threads were at is given up. */
void pp_value_table_after_fork_in_child(pp_value_table *table);

#endif
