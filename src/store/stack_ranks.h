/* SPDX-License-Identifier: MIT
 *
 * stack_ranks.h: remembers the order of stacks, so that the same ones need not be compared again.
 *
 * A profile that is asked for again and again has mostly the stacks that it had before. Each stack
 * that has been in a large sort has a rank: the lesser one belongs to the lesser stack
 * (pp_stack_compare). Ranks change when stacks are added, so they are read for all stacks of a sort
 * at once:
 *
 *   if (pp_stack_ranks_begin()) {
 *       a stack whose rank is 0 has none yet: pp_stack_ranks_add()
 *       copy the ranks
 *       pp_stack_ranks_end();
 *   } else {
 *       compare the stacks
 *   }
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: one, which nobody waits for, between begin and end. A child of fork whose parent held it
 *        at that moment compares for ever.
 * Owns: the list of stacks that have ranks.
 */
#ifndef PP_STORE_STACK_RANKS_H
#define PP_STORE_STACK_RANKS_H

#include "store/stack_trie.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct pp_ranked_stack {
    const pp_trie_stack *stack;
} pp_ranked_stack;

/* Returns false if another thread is between begin and end. */
bool pp_stack_ranks_begin(void);
void pp_stack_ranks_end(void);

/* Gives ranks to stacks that have none; changes the ranks of others. Sorts the list; a stack may be
 * in it several times. Returns false if the kernel refuses memory: then nothing has changed. */
bool pp_stack_ranks_add(pp_ranked_stack *stacks, size_t count);

/* The memory of the list. */
size_t pp_stack_ranks_bytes(void);

#endif
