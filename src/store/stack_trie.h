/* SPDX-License-Identifier: MIT
 *
 * stack_trie.h: every recorded stack once, for as long as the process lives.
 *
 * This trie of hashes needs no locks and no rehashing, however large it grows: the two highest bits
 * of a hash choose one of four children, the next two bits one of its children, and so on. One
 * compare-and-swap links a stack into an empty place, where it stays for ever.
 *
 *   roots[hash] -> stack -+-> stack           stack:  pc[depth]
 *                         +-> stack
 *
 * Buckets of the heap and the values of named profiles point into the trie. The trie grows with the
 * number of different stacks, not with the number of events.
 *
 * Zone: HOOK.
 * Owns: the stacks, for ever.
 */
#ifndef PP_STORE_STACK_TRIE_H
#define PP_STORE_STACK_TRIE_H

#include "base/stack_order.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_trie_stack {
    struct pp_trie_stack *child[4];
    uint64_t hash;
    uint32_t depth;
    uint32_t sizes; /* buckets of the heap that have this stack */
    uint32_t rank;  /* store/stack_ranks.h */
    uintptr_t pc[]; /* return-like, leaf-most first (profile/model.h) */
} pp_trie_stack;

/* Returns the stack whose pp_stack_hash() is `hash`; enters it if it is new. NULL if the kernel
 * refuses memory. */
pp_trie_stack *pp_stack_trie_find(const uintptr_t *pcs, uint32_t depth, uint64_t hash);

/* As pp_stack_compare(); 0 if they are one. */
static inline int pp_trie_stack_compare(const pp_trie_stack *x, const pp_trie_stack *y)
{
    return x != y ? pp_stack_compare(x->pc, x->depth, y->pc, y->depth) : 0;
}

/* The memory of all stacks. */
size_t pp_stack_trie_bytes(void);

#endif
