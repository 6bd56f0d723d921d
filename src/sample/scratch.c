/* SPDX-License-Identifier: MIT
 *
 * scratch.c: borrowing of walk buffers.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: the buffers.
 */
#include "sample/scratch.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    BUFFERS = 64 /* one bit each in a word: 64 threads inside a handler at one moment */
};

static pp_scratch buffers[BUFFERS];
static uint64_t taken;

pp_scratch *pp_scratch_take(void)
{
    uint64_t now = __atomic_load_n(&taken, __ATOMIC_RELAXED);
    while (~now != 0) {
        unsigned index = (unsigned)__builtin_ctzll(~now);
        if (__atomic_compare_exchange_n(&taken, &now, now | UINT64_C(1) << index, true,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return &buffers[index];
        }
    }
    return NULL;
}

void pp_scratch_give(const pp_scratch *buffer)
{
    unsigned index = (unsigned)(buffer - buffers);
    __atomic_and_fetch(&taken, ~(UINT64_C(1) << index), __ATOMIC_RELEASE);
}

void pp_scratch_after_fork_in_child(void)
{
    taken = 0;
}
