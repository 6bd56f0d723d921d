/* SPDX-License-Identifier: MIT
 *
 * heap.h: the heap sampler: decides which allocations are samples, and records these.
 *
 *   malloc --> countdown used up? --> pp_heap_due --> real malloc --> pp_heap_record
 *   free   --> filter has it?     --> pp_heap_detach --> pp_heap_freed --> real free
 *
 * Every allocated byte is equally likely to be the byte that makes its block a sample: the number
 * of bytes between two such bytes is exponential with the mean `rate`. Each thread counts down in
 * TLS; the entries of the hooks subtract, and call this file when the countdown is used
 * up.
 *
 * Two variables hold the rest of an interval, the countdown and what follows it, so that a thread
 * calls pp_heap_due() once in PP_HEAP_LOOK_BYTES even if the next sample is far away, or sampling
 * is off. So a change of the rate reaches every thread after that many bytes of its own, without a
 * list of threads. The exponential distribution has no memory, so a thread may drop an interval at
 * any time.
 *
 * Blocks of 0 bytes are sampled only at rate 1.
 *
 * Zone: HOOK.
 * Owns: a few words of TLS; the counts of lost samples.
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
    /* glibc maps each block of this size: the call of pp_heap_due() costs little beside that. */
    PP_HEAP_LOOK_BYTES = 128 * 1024
};

/*
 * An allocation of the calling thread that is smaller than the countdown does not call us. The
 * countdown is 0 in a new thread, and while every block is sampled. The entry stubs know its name.
 */
extern PP_TLS uint64_t pp_heap_countdown;

/*
 * To be called for an allocation of at least pp_heap_countdown bytes. Returns the rate if the
 * allocation is a sample, else 0. Sets the countdown for the next allocation.
 */
uint64_t pp_heap_due(uint64_t size);

/*
 * From now on every allocation and every free takes the slow path of its hook
 * (kinds/heap/alloctrace.h). The choice of samples stays the same.
 */
void pp_heap_look_at_all(void);

/* Records a sample; `caller` called the allocator. Counts a sample that cannot be stored as lost.
 * Preserves errno. */
void pp_heap_record(uintptr_t address, uint64_t size, uint64_t rate, const pp_caller *caller);

/*
 * The parts of pp_heap_record(), for other heaps and other kinds of allocations (heap_cycles.h,
 * heap_mappings.c). pp_heap_find_block() walks the stack, puts the address of the function `kind`
 * in front of it unless that is 0, and calls `find`; 0 if there is no memory. pp_heap_lose() counts
 * a sample that could not be stored.
 */
typedef pp_heap_block pp_heap_block_finder(const uintptr_t *pcs, uint32_t depth, uint64_t hash,
                                           uint64_t size, uint64_t rate, pprof_labels *labels);
pp_heap_block pp_heap_find_block(uintptr_t kind, uint64_t size, uint64_t rate,
                                 const pp_caller *caller, pp_heap_block_finder *find);
void pp_heap_lose(uint64_t size, uint64_t rate);

/* The rest of pp_heap_record(), for a block that is found (0: the sample is lost). True if the
 * address had a record, which is gone. */
bool pp_heap_record_block(uintptr_t address, uint64_t size, uint64_t rate, pp_heap_block block);

/* A mark of the calling thread, which belongs to jemalloc_samples.c. */
bool *pp_heap_mark(void);

/* For a sample whose whole stack was found elsewhere; pp_heap_find_block() counts by itself. */
void pp_heap_count_whole_stack(void);

/*
 * Removes the record of a block that the program is about to free or resize, and returns it. 0 if
 * there is none; then the caller must not call the next two functions. PP_HEAP_FOREIGN if
 * pp_heap_remember() made the entry.
 */
uint64_t pp_heap_detach(uintptr_t address);

/* The block of a detached record was freed. */
void pp_heap_freed(uint64_t record);

/* The block of a detached record was not freed, because realloc failed. `birth_ns`:
 * pp_live_table_birth() before pp_heap_detach(). */
void pp_heap_reattach(uintptr_t address, uint64_t record, uint64_t birth_ns);

/* Makes pp_heap_detach() return PP_HEAP_FOREIGN for the address, which is no sample. False if there
 * is no memory. */
#define PP_HEAP_FOREIGN UINT64_MAX
bool pp_heap_remember(uintptr_t address);

/* The program does not call our hooks any more: all sampled blocks count as freed. */
void pp_heap_forget_blocks(void);

/* Returns the mean number of bytes between samples; 0 = off, 1 = every block. */
int64_t pp_heap_rate(void);
/* Sets the rate, which takes effect on the calling thread at once. Returns the previous rate. */
int64_t pp_heap_set_rate(int64_t rate);
/* Whether every block of the program is a sample, since its first allocation. */
bool pp_heap_has_all(void);
void pp_heap_note_missed(void); /* it is not, from now on */
/* Whether the rate was ever set; it is 0 before. */
bool pp_heap_rate_is_known(void);

/* For tests: from now on, the calling thread's intervals depend only on `seed`. */
void pp_heap_seed(uint64_t seed);

/* Facts that the comments of a profile show. */
typedef struct pp_heap_facts {
    pp_stops stops;
    double lost_objects, lost_bytes; /* estimates from samples that could not be stored */
    uint64_t lost_samples;
} pp_heap_facts;

void pp_heap_facts_read(pp_heap_facts *read);

/* In the child of fork. Records stay: the blocks exist in the child, too. */
void pp_heap_after_fork_in_child(void);

#endif
