/* SPDX-License-Identifier: MIT
 *
 * copies.h: call-frame information that was copied from removable modules, shared by all walks.
 *
 * A module that may be unloaded is read by system calls alone, half a microsecond each. Most reads
 * of a rule are of bytes that the last one wanted too: the header, the middle of the search table,
 * the CIE. Chunks of 512 bytes are kept, as long as the loader's epoch stays what it was:
 *
 *    chunk's address -> slot: [sequence][epoch][lo, hi)[bytes ...]      direct-mapped, a sequence lock each
 *
 * As with rules, a chunk is kept only if the epoch did not move since the walk began.
 *
 * Zone: SIGNAL.
 * Locks: none that is waited for: a slot that is being written counts as empty.
 * Owns: the slots (50 KiB of .bss, untouched until a removable module is met).
 */
#ifndef PP_UNWIND_COPIES_H
#define PP_UNWIND_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_CHUNK_BYTES = 512 };

/* A copied part of a module: what lies at [lo, hi), not more than a chunk. */
typedef struct pp_chunk {
    uintptr_t lo, hi;
    uint8_t bytes[PP_CHUNK_BYTES];
} pp_chunk;

static inline uintptr_t pp_chunk_begin(uintptr_t address)
{
    return address & ~(uintptr_t)(PP_CHUNK_BYTES - 1);
}

/* Finds what was kept at `epoch` of the chunk that begins at `begin`. */
bool pp_copies_find(uintptr_t begin, uint64_t epoch, pp_chunk *chunk);

/* Keeps a chunk that a walk of `epoch` has copied. With signals blocked: a chunk that was left
 * half-written by a jump out of a handler could never be written again. */
void pp_copies_keep(uintptr_t begin, uint64_t epoch, const pp_chunk *chunk);

/* In the child of fork: nobody is writing. */
void pp_copies_after_fork_in_child(void);

/* Forgets everything (tests, benchmarks). Not while another thread walks. */
void pp_copies_clear(void);

#endif
