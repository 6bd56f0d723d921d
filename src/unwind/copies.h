/* SPDX-License-Identifier: MIT
 *
 * copies.h: call-frame information that was copied from removable modules, shared by all walks.
 *
 * The unwinder reads a module that may be unloaded only by system calls, half a microsecond each.
 * Most of the bytes that a rule needs were needed by the rule before: the header, the middle of the
 * search table, the CIE. So chunks of 512 bytes are kept as long as the loader's epoch does not
 * change:
 *
 *    chunk's address -> slot: [sequence][epoch][lo, hi)[bytes ...]          direct-mapped
 *
 * As with rules, a chunk is kept only if the epoch has not changed since the walk began.
 *
 * Zone: SIGNAL.
 * Locks: a sequence lock for each slot. Nobody waits: a slot that is being written counts as empty.
 * Owns: the slots (52 KiB of .bss, untouched until a walk meets a removable module).
 */
#ifndef PP_UNWIND_COPIES_H
#define PP_UNWIND_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_CHUNK_BYTES = 512 };

/* A copy of the bytes of a module at [lo, hi): at most one chunk. */
typedef struct pp_chunk {
    uintptr_t lo, hi;
    uint8_t bytes[PP_CHUNK_BYTES];
} pp_chunk;

static inline uintptr_t pp_chunk_begin(uintptr_t address)
{
    return address & ~(uintptr_t)(PP_CHUNK_BYTES - 1);
}

/* Finds the chunk of the byte at `at` that a walk of `epoch` kept, and copies of it `most` bytes or some
 * more from `at` on, as far as it goes. */
bool pp_copies_find(uintptr_t at, size_t most, uint64_t epoch, pp_chunk *chunk);

/* Keeps a chunk that a walk of `epoch` has copied. The caller has blocked signals: a slot that a
 * jump out of a handler left half-written could never be written again. */
void pp_copies_keep(uintptr_t begin, uint64_t epoch, const pp_chunk *chunk);

/* Empties, in the child of fork, slots that other threads of the parent were writing. */
void pp_copies_after_fork_in_child(void);

/* Empties all slots, for tests and benchmarks. No other thread may walk meanwhile. */
void pp_copies_clear(void);

#endif
