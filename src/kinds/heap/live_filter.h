/* SPDX-License-Identifier: MIT
 *
 * live_filter.h: whether an address may belong to a sampled block, in one byte.
 *
 * free() asks this of every pointer, and for all but a few the answer has to be no at the price of
 * a load or two. The filter has a counter for each hash of an address: how many sampled blocks that
 * are alive have that hash.
 *
 *   pp_live_filter -> [ mask | count[mask + 1] ]       hash = address >> 8 & mask
 *
 * The hash keeps neighbours together: 16 KiB of the heap lie in a line of the filter. It repeats
 * every 16 MiB, and page-aligned blocks have one byte in sixteen to choose from; neither changes
 * how many other blocks are asked about in vain, and folding in more of the address costs free()
 * two instructions of nine.
 *
 * The architecture's entry stubs (arch/x86_64_malloc.S) read it, so the layout and the hash
 * stand there a second time.
 *
 * Growing. A filter that has become too full is replaced by one of twice the size while blocks come
 * and go. Each has a generation, a block knows in which one it is counted, and the moves are made
 * so that a count may be too high for a moment but never too low (live_table.c).
 *
 * Zone: HOOK.
 * Owns: the filters.
 */
#ifndef PP_KINDS_HEAP_LIVE_FILTER_H
#define PP_KINDS_HEAP_LIVE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The smallest filter. Measured (docs/SAMPLING.md has the table): a ring of 4096 blocks costs the
 * same with 16, 64 and 256 KiB; with two million blocks, 2000 of them sampled, 16 KiB is slower.
 */
#define PP_LIVE_FILTER_BYTES_MIN (64u * 1024)

typedef struct pp_live_filter_table {
    uint64_t mask; /* bytes - 1; 0 in the first one before there is any block: all share a byte */
    uint32_t generation;
    uint32_t padding;
    uint64_t more_padding[6]; /* the counts begin on a cache line */
    uint8_t count[];
} pp_live_filter_table;

/* The one that free() looks at. Never NULL. */
extern pp_live_filter_table *pp_live_filter;

static inline size_t pp_live_filter_hash(const pp_live_filter_table *filter, uintptr_t address)
{
    return address >> 8 & __atomic_load_n(&filter->mask, __ATOMIC_RELAXED);
}

static inline bool pp_live_filter_may_have(uintptr_t address)
{
    const pp_live_filter_table *filter = __atomic_load_n(&pp_live_filter, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&filter->count[pp_live_filter_hash(filter, address)],
                           __ATOMIC_RELAXED) != 0;
}

/* Before the first block: gives the first filter its size. */
void pp_live_filter_init(void);

/* Counts that reach 255 stay there. */
void pp_live_filter_add(pp_live_filter_table *filter, uintptr_t address);
void pp_live_filter_sub(pp_live_filter_table *filter, uintptr_t address);

/* From now on every address may belong to a sampled block. */
void pp_live_filter_pass_all(void);

/* The filter of a generation: the one in use, the one being made; NULL for those that retired. */
pp_live_filter_table *pp_live_filter_of(uint32_t generation);

/* Where a block that is being recorded must be counted in the end. */
pp_live_filter_table *pp_live_filter_newest(void);

/* Makes the next one, of twice the size; NULL if memory is refused. From now on it is
 * the newest. */
pp_live_filter_table *pp_live_filter_begin_growth(void);

/* Every block is counted in the newest one: free() may look there. */
void pp_live_filter_end_growth(void);

/* A growth has begun and not ended. */
bool pp_live_filter_is_growing(void);

#endif
