/* SPDX-License-Identifier: MIT
 *
 * stack_trie.c: the trie of stacks (drawing in the header).
 *
 * Zone: HOOK.
 * Owns: the roots; the memory of stacks.
 * Tested by: unit.heap_buckets, interleave.heap_buckets
 */
#include "store/stack_trie.h"

#include "store/bump.h"

#include <stdbool.h>
#include <string.h>

enum {
    ROOT_BITS = 12, /* 32 KiB of roots; the kernel provides only pages that are used */
    CHILD_BITS = 2
};

static struct {
    pp_bump memory;
    uint64_t bytes_used;
    pp_trie_stack *roots[1 << ROOT_BITS];
} trie = {.memory = PP_BUMP_INIT};

static bool is_stack(const pp_trie_stack *stack, uint64_t hash, const uintptr_t *pcs,
                     uint32_t depth)
{
    return stack->hash == hash && stack->depth == depth &&
           memcmp(stack->pc, pcs, depth * sizeof *pcs) == 0;
}

static pp_trie_stack *new_stack(uint64_t hash, const uintptr_t *pcs, uint32_t depth)
{
    size_t size = sizeof(pp_trie_stack) + depth * sizeof *pcs;
    pp_trie_stack *stack = pp_bump_alloc(&trie.memory, size);
    if (stack != NULL) {
        __atomic_add_fetch(&trie.bytes_used, size, __ATOMIC_RELAXED);
        stack->hash = hash;
        stack->depth = depth;
        memcpy(stack->pc, pcs, depth * sizeof *pcs);
    }
    return stack;
}

pp_trie_stack *pp_stack_trie_find(const uintptr_t *pcs, uint32_t depth, uint64_t hash)
{
    pp_trie_stack **place = &trie.roots[hash & ((1 << ROOT_BITS) - 1)];
    pp_trie_stack *mine = NULL; /* stays unused if another thread links the same stack first */
    for (uint64_t path = hash;; path <<= CHILD_BITS) {
        pp_trie_stack *stack = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        if (stack == NULL) {
            mine = mine != NULL ? mine : new_stack(hash, pcs, depth);
            if (mine == NULL || __atomic_compare_exchange_n(place, &stack, mine, false,
                                                            __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
                return mine;
            }
        }
        if (is_stack(stack, hash, pcs, depth)) {
            return stack;
        }
        place = &stack->child[path >> (64 - CHILD_BITS)];
    }
}

size_t pp_stack_trie_bytes(void)
{
    return __atomic_load_n(&trie.bytes_used, __ATOMIC_RELAXED);
}
