/* SPDX-License-Identifier: MIT
 *
 * live_filter.h: a filter that tells whether an address may belong to a sampled block.
 *
 * free() asks the filter about every pointer, and nearly always gets "no", which must cost no more
 * than a load or two. The filter has a counter of one byte for each hash of an address: the number
 * of live sampled blocks with that hash.
 *
 *   pp_live_filter -> [ mask | count[mask + 1] ]       hash = address >> 8 & mask
 *
 * The hash keeps neighbours together: one cache line of the filter covers 16 KiB of the heap. The
 * hash repeats every 16 MiB, and page-aligned blocks share one byte in sixteen. Neither changes the
 * share of false "maybe" answers, and to hash more bits of the address would add two instructions
 * to the nine of free().
 *
 * The entries (malloc_x86_64.S) read the filter, and compute its hash.
 *
 * Growth. A filter of twice the size replaces a filter that is too full, while other threads add
 * and remove blocks. Each filter has a generation; the key of a block has the generation that
 * counts it. A block moves in an order in which a count may be too high for a moment but never too
 * low (live_table.c).
 *
 * Zone: HOOK.
 * Owns: the filters.
 */
#ifndef PP_KINDS_HEAP_LIVE_FILTER_H
#define PP_KINDS_HEAP_LIVE_FILTER_H

/* What the entries repeat. */
#define PP_LIVE_FILTER_SHIFT  8  /* of an address */
#define PP_LIVE_FILTER_MASK   0  /* offset of `mask` in the table */
#define PP_LIVE_FILTER_COUNTS 64 /* offset of `count` */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The smallest filter. Measured (docs/SAMPLING.md has the table): a ring of 4096 blocks costs the
 * same with 16, 64 and 256 KiB; with two million blocks, 2000 of them sampled, 16 KiB is slower.
 */
#define PP_LIVE_FILTER_BYTES_MIN (64u * 1024)

typedef struct pp_live_filter_table {
    uint64_t mask; /* bytes - 1; before the first block, 0: all addresses share a byte */
    uint32_t generation;
    uint32_t padding;
    uint64_t more_padding[6]; /* the counts begin on a cache line */
    uint8_t count[];
} pp_live_filter_table;

_Static_assert(offsetof(pp_live_filter_table, mask) == PP_LIVE_FILTER_MASK &&
                   offsetof(pp_live_filter_table, count) == PP_LIVE_FILTER_COUNTS,
               "the entries read the filter");

/* The filter that free() asks. Never NULL. */
extern pp_live_filter_table *pp_live_filter;

static inline size_t pp_live_filter_hash(const pp_live_filter_table *filter, uintptr_t address)
{
    return address >> PP_LIVE_FILTER_SHIFT & __atomic_load_n(&filter->mask, __ATOMIC_RELAXED);
}

static inline bool pp_live_filter_may_have(uintptr_t address)
{
    const pp_live_filter_table *filter = __atomic_load_n(&pp_live_filter, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&filter->count[pp_live_filter_hash(filter, address)],
                           __ATOMIC_RELAXED) != 0;
}

/* Gives the first filter its size. To be called before the first block. */
void pp_live_filter_init(void);

/* Count a block of that address in `filter`, or undo that. A count that reaches 255 stays there. */
void pp_live_filter_add(pp_live_filter_table *filter, uintptr_t address);
void pp_live_filter_sub(pp_live_filter_table *filter, uintptr_t address);

/* Makes the filter answer "maybe" for every address from now on. */
void pp_live_filter_pass_all(void);

/* Returns the filter of a generation: that in use or a newer one; NULL for an older generation. */
pp_live_filter_table *pp_live_filter_of(uint32_t generation);

/* Returns the newest filter, which must count every new block in the end. */
pp_live_filter_table *pp_live_filter_newest(void);

/* Makes a filter of twice the size, which is the newest from now on. NULL if the kernel refuses
 * memory. */
pp_live_filter_table *pp_live_filter_begin_growth(void);

/* Makes free() ask the newest filter. The caller has counted every block there. */
void pp_live_filter_end_growth(void);

/* Whether a growth has begun and not ended. */
bool pp_live_filter_is_growing(void);

#endif

#endif
