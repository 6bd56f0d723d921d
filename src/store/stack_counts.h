/* SPDX-License-Identifier: MIT
 *
 * stack_counts.h: how often each stack was seen, counted from signal handlers.
 *
 * A hash table that is filled from front to back. Nothing in it moves or is freed before the whole
 * goes, so that readers and writers need no locks: an entry becomes visible by one compare-and-swap
 * on the head of its chain.
 *
 *   [ header | heads: one word a chain | entry | entry | entry ...      free     ]
 *               |                        ^
 *               +------------------------+   offsets, in words, from the start of the table
 *
 * A table for signal handlers is one mapping, reserved when the profile starts: a handler asks
 * nobody for memory. One for hooks begins with 1 MiB and grows, by a bare system call of the hook
 * that finds it full. Each further piece is as large as all before it, so that an offset tells its
 * piece; no entry lies in two.
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
    uint64_t amount; /* a second number, for whoever wants to add one */
    uintptr_t pc[];
} pp_stack_entry;

/*
 * Reserves a table of up to `bytes` (halved as often as the address space or memory limits demand).
 * Memory is used as it fills. NULL if not even a small one can be had.
 */
pp_stack_counts *pp_stack_counts_new(size_t bytes);

/* A table that grows up to `most` bytes, but has 1 MiB at least. For hooks. Zone: HOOK. */
pp_stack_counts *pp_stack_counts_new_growing(size_t most);

void pp_stack_counts_free(pp_stack_counts *counts);

/*
 * Adds `weight` to the count of the stack, whose pp_stack_hash() is `hash`. Returns its entry, or
 * NULL if the table is full (then nothing was counted). Zone: SIGNAL.
 */
pp_stack_entry *pp_stack_counts_record(pp_stack_counts *counts, const uintptr_t *pcs,
                                       uint32_t depth, uint64_t hash, uint64_t weight);

/* Calls back for each stack, in no particular order. */
typedef void pp_stack_visit(const pp_stack_entry *entry, void *context);
void pp_stack_counts_each(const pp_stack_counts *counts, pp_stack_visit *visit, void *context);

#endif
