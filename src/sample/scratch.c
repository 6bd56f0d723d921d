/* SPDX-License-Identifier: MIT
 *
 * scratch.c: borrowing of walk buffers.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: the buffers.
 */
#include "sample/scratch.h"

#include "base/slots.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    BUFFERS = 64 /* one bit each in a word: 64 threads inside a handler at one moment */
};

static pp_scratch buffers[BUFFERS];
static uint64_t taken;

pp_scratch *pp_scratch_take(void)
{
    int index = pp_slot_take(&taken, 1);
    return index >= 0 ? &buffers[index] : NULL;
}

void pp_scratch_give(const pp_scratch *buffer)
{
    pp_slot_give(&taken, (size_t)(buffer - buffers));
}

void pp_scratch_after_fork_in_child(void)
{
    taken = 0;
}
