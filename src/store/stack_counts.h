/* SPDX-License-Identifier: MIT
 *
 * stack_counts.h: a hash table with the number of samples of each stack, filled by signal handlers
 * and hooks.
 *
 * The table fills from front to back. Nothing in it moves, and nobody frees an entry before the
 * whole table, so readers and writers need no locks: one compare-and-swap on the head of a chain
 * makes an entry visible.
 *
 *   [ header | heads: one word a chain | entry | entry | entry ...      free     ]
 *               |                        ^
 *               +------------------------+   offsets, in words, from the start of the table
 *
 * A table for signal handlers is one mapping, reserved when the profile starts: a handler never
 * asks for memory. A table for hooks begins with 1 MiB and grows: the hook that finds it full maps
 * more by a bare system call. Each further piece is as large as all pieces before it, so an offset
 * determines its piece; no entry lies in two pieces.
 *
 *   [ 1 MiB, as above ][ 1 MiB ][   2 MiB   ][         4 MiB         ] ...
 *
 *   entry: next, depth, hash, count, amount, pc[depth]
 *
 * Zone: SIGNAL for record; the rest NORMAL.
 * Owns: its mappings.
 */
#ifndef PP_STORE_STACK_COUNTS_H
#define PP_STORE_STACK_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_stack_counts pp_stack_counts;

typedef struct pp_stack_entry {
    uint32_t next; /* offset of the next entry of the chain, 0 = none */
    uint32_t depth;
    uint64_t hash;
    uint64_t count;
    uint64_t amount; /* a second sum, which the owner of the table may use */
    uintptr_t pc[];
} pp_stack_entry;

/* Reserves a table of up to `bytes` (halved as often as the address space or memory limits demand).
 * The kernel provides pages as the table fills. NULL if the kernel refuses even 1 MiB. */
pp_stack_counts *pp_stack_counts_new(size_t bytes);

/* Makes a table of 1 MiB that grows up to `most` bytes. For hooks. Zone: HOOK. */
pp_stack_counts *pp_stack_counts_new_growing(size_t most);

void pp_stack_counts_free(pp_stack_counts *counts);

/* Adds `weight` to the count of the stack, whose pp_stack_hash() is `hash`. Returns its entry, or
 * NULL if the table is full and counted nothing. Zone: SIGNAL. */
pp_stack_entry *pp_stack_counts_record(pp_stack_counts *counts, const uintptr_t *pcs,
                                       uint32_t depth, uint64_t hash, uint64_t weight);

/* Whether no stack was ever recorded. */
bool pp_stack_counts_is_empty(const pp_stack_counts *counts);

/* Calls `visit` for each stack, in no particular order. */
typedef void pp_stack_visit(const pp_stack_entry *entry, void *context);
void pp_stack_counts_each(const pp_stack_counts *counts, pp_stack_visit *visit, void *context);

#endif
