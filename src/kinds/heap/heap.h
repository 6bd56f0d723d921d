/* SPDX-License-Identifier: MIT
 *
 * heap.h: the heap sampler: which allocations are looked at, and what is remembered of them.
 *
 *   malloc --> countdown used up? --> pp_heap_due --> real malloc --> pp_heap_record
 *   free   --> filter has it?     --> pp_heap_detach --> pp_heap_freed --> real free
 *
 * Every byte that is allocated is equally likely to be the one that makes its block a sample: the
 * number of bytes between two such bytes is exponential with the mean `rate`. A thread counts down
 * in TLS; the entry stubs of the hooks (arch/) do the subtraction, and come here when the countdown
 * is used up.
 *
 * What is left of an interval is kept in two parts, the countdown and the rest, so that a thread
 * comes by once in PP_HEAP_LOOK_BYTES even when the next sample is far away, or sampling is off. A
 * change of the rate thus takes effect on every thread after that many bytes of its own, without a
 * list of threads: the process has no memory, so an interval may be thrown away at any time.
 *
 * Blocks of no bytes are sampled at rate 1 alone.
 *
 * Zone: HOOK.
 * Owns: a few words of TLS; the counts of what was lost.
 */
#ifndef PP_KINDS_HEAP_HEAP_H
#define PP_KINDS_HEAP_HEAP_H

#include "base/compiler.h"
#include "kinds/heap/heap_buckets.h"
#include "unwind/caller.h"
#include "unwind/stops.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_HEAP_RATE_DEFAULT = 512 * 1024,
    /* glibc asks the kernel for each block of this size: what a look costs is not seen
     * beside it. */
    PP_HEAP_LOOK_BYTES = 128 * 1024
};

/*
 * The calling thread goes on without us while what it allocates is less than this. 0 in a new
 * thread and while every block is sampled. Known to the entry stubs by name.
 */
extern PP_TLS uint64_t pp_heap_countdown;

/*
 * Called for an allocation that used the countdown up (>= it). Returns the rate if it is to be
 * sampled, else 0; the countdown is set for the next one.
 */
uint64_t pp_heap_due(uint64_t size);

/*
 * From now on every allocation is due to be looked at, and every block may be a sampled one: the
 * hooks see each call (kinds/heap/alloctrace.h). What is sampled stays the same.
 */
void pp_heap_look_at_all(void);

/* Records the sample, of `caller` of the allocator. What cannot be stored is counted as lost. Preserves errno. */
void pp_heap_record(uintptr_t address, uint64_t size, uint64_t rate, const pp_caller *caller);

/*
 * Its parts, for other heaps and other kinds of allocations (heap_cycles.h, heap_mappings.c): walks
 * the stack, puts the address of the function `kind` in front of it if that is not 0, and has the
 * block found for it; 0 if that is not possible. Counts a sample that could not be stored.
 */
typedef pp_heap_block pp_heap_block_finder(const uintptr_t *pcs, uint32_t depth, uint64_t hash,
                                           uint64_t size, uint64_t rate, pprof_labels *labels);
pp_heap_block pp_heap_find_block(uintptr_t kind, uint64_t size, uint64_t rate,
                                 const pp_caller *caller, pp_heap_block_finder *find);
void pp_heap_lose(uint64_t size, uint64_t rate);

/*
 * What a block that is about to be freed or resized was recorded as: 0 for none, then neither of
 * the next two may be called. PP_HEAP_FOREIGN for an entry that pp_heap_remember() made.
 */
uint64_t pp_heap_detach(uintptr_t address);

/* It was freed. */
void pp_heap_freed(uint64_t record);

/* It was not, after all (realloc failed). */
void pp_heap_reattach(uintptr_t address, uint64_t record);

/* Makes detach answer PP_HEAP_FOREIGN for the address, which is no sample. False without memory. */
#define PP_HEAP_FOREIGN UINT64_MAX
bool pp_heap_remember(uintptr_t address);

/* Bytes between samples on the average; 0 = off, 1 = every block. */
int64_t pp_heap_rate(void);
/* Returns the previous one. Takes effect at once on the calling thread. */
int64_t pp_heap_set_rate(int64_t rate);
/* Whether it was ever set; it is 0 before. */
bool pp_heap_rate_is_known(void);

/* The calling thread's intervals from now on follow from `seed` alone, for tests. */
void pp_heap_seed(uint64_t seed);

/* What the profile says beside the counts. */
typedef struct pp_heap_facts {
    pp_stops stops;
    double lost_objects, lost_bytes; /* not stored, scaled up */
    uint64_t lost_samples;
} pp_heap_facts;

void pp_heap_facts_read(pp_heap_facts *read);

/* In the child of fork. What was recorded before stays: the blocks are the child's, too. */
void pp_heap_after_fork_in_child(void);

#endif
