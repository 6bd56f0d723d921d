/* SPDX-License-Identifier: MIT
 *
 * stack_hash.h: the hash of a stack, from its root to its leaf.
 *
 * Two stacks of a thread mostly differ near the leaf. Built up from the root, the hash of what they
 * share is the same number, and the stack memo keeps it for each frame.
 *
 * Zone: SIGNAL (pure arithmetic).
 */
#ifndef PP_BASE_STACK_HASH_H
#define PP_BASE_STACK_HASH_H

#include <stdint.h>

/* The hash of no frames at all. */
#define PP_STACK_HASH_ROOT UINT64_C(0x51afd7ed558ccd6d)

/* The hash of a stack that has one frame more at its leaf end. */
static inline uint64_t pp_stack_hash_extend(uint64_t hash, uintptr_t pc)
{
    hash = (hash ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Of a whole stack, leaf-most frame first. */
static inline uint64_t pp_stack_hash(const uintptr_t *pcs, uint32_t depth)
{
    uint64_t hash = PP_STACK_HASH_ROOT;
    while (depth > 0) {
        hash = pp_stack_hash_extend(hash, pcs[--depth]);
    }
    return hash;
}

#endif
