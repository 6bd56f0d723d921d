/* SPDX-License-Identifier: MIT
 *
 * stack_hash.h: hashes a stack from its root to its leaf.
 *
 * Two stacks of one thread mostly differ near the leaf. Because the hash begins at the root, the
 * shared frames have the same hash in both, and the stack memo keeps it for each frame.
 *
 * Zone: SIGNAL (pure arithmetic).
 */
#ifndef PP_BASE_STACK_HASH_H
#define PP_BASE_STACK_HASH_H

#include <stdint.h>

/* The hash of an empty stack. */
#define PP_STACK_HASH_ROOT UINT64_C(0x51afd7ed558ccd6d)

/* Returns the hash of a stack with one more frame at its leaf end. */
static inline uint64_t pp_stack_hash_extend(uint64_t hash, uintptr_t pc)
{
    hash = (hash ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Returns the hash of a whole stack, leaf-most frame first. */
static inline uint64_t pp_stack_hash(const uintptr_t *pcs, uint32_t depth)
{
    uint64_t hash = PP_STACK_HASH_ROOT;
    while (depth > 0) {
        hash = pp_stack_hash_extend(hash, pcs[--depth]);
    }
    return hash;
}

#endif
