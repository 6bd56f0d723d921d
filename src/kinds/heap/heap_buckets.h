/* SPDX-License-Identifier: MIT
 *
 * heap_buckets.h: counts of allocations and frees for each stack, block size and rate, and within
 * these for each set of labels.
 *
 * The buckets are in a trie of hashes, like the stacks (stack_trie.h). The hash of a bucket covers
 * its whole key. Buckets stay for ever.
 *
 *   roots[hash] -> bucket -+-> bucket           bucket: stack, size, rate, counts
 *                          +-> bucket
 *   newest -> bucket -> bucket -> ...           all buckets, for a snapshot; two lists
 *
 * Sizes. The key of a bucket has the exact block size. A program that allocates blocks of every
 * size at one place (strings, network buffers) would make a bucket for each size. So a stack that
 * has EXACT_SIZES buckets puts further sizes into classes, eight for each doubling, whose number is
 * bounded. The counts of bytes stay exact there, and so do the estimates: a small block of a class
 * represents more blocks than a large one, and an estimate from the mean size would be too low (by
 * 0.12 % at worst). So a bucket sums the weights of its samples: the number of blocks that a sample
 * represents, in units of the number that a sample of the least size represents.
 *
 * Labels. A bucket counts all blocks. A cell (label_cells.h) counts the blocks of a labelled thread
 * a second time; it is in use as long as one of them lives. If no cell is free, a block has no
 * labels.
 *
 * Collected heaps. Blocks of a heap that the program describes (kinds/heap/heap_cycles.h) have
 * their own buckets, in the same trie but in another list. An event there is first counted in one
 * of three cycles; publishing the cycle adds its counts to the bucket's. These blocks have no
 * labels.
 *
 * Zone: HOOK.
 * Owns: buckets, for ever.
 */
#ifndef PP_KINDS_HEAP_HEAP_BUCKETS_H
#define PP_KINDS_HEAP_HEAP_BUCKETS_H

#include "store/label_cells.h"
#include "store/stack_trie.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The counts of one cycle of a collector that is not published yet. */
typedef struct pp_heap_cycle {
    uint64_t alloc_objects, alloc_bytes;
    uint64_t free_objects, free_bytes;
} pp_heap_cycle;

enum {
    PP_HEAP_CYCLES = 3,
    PP_HEAP_WEIGHT_BITS = 20 /* precision: a millionth; sums of 2^43 samples fit */
};

typedef struct pp_heap_bucket {
    struct pp_heap_bucket *child[4];
    struct pp_heap_bucket *next; /* in the list: the bucket that was made before */
    const pp_trie_stack *stack;
    uint64_t size;         /* of the blocks, or the least size of the class */
    uint16_t is_class;     /* blocks of size .. 1.125 size - 1 */
    uint16_t is_collected; /* of a heap that the program describes: see above */
    uint32_t shift;        /* of a block's size above the least size: see pp_heap_block */
    uint64_t rate;         /* of its samples */
    /* Raw samples. An allocation is counted before the block is in the table of live blocks, a free
     * after it was removed from there. */
    uint64_t alloc_objects, alloc_bytes;
    uint64_t free_objects, free_bytes;
    uint64_t trimmed_bytes; /* unmapped parts of mappings that are in use */
    uint64_t alloc_weight,
        free_weight;        /* of a class that is not collected; 2^PP_HEAP_WEIGHT_BITS each */
    double least_blocks;    /* the number of blocks that a sample of the least size represents */
    pp_heap_cycle future[]; /* PP_HEAP_CYCLES if is_collected, else none */
} pp_heap_bucket;

/* The counts of a bucket in a snapshot; never more freed than allocated. */
typedef struct pp_heap_counts {
    uint64_t alloc_objects, alloc_bytes;
    uint64_t free_objects, free_bytes;
    uint64_t trimmed_bytes; /* at most the bytes that are not free */
    uint64_t alloc_weight, free_weight;
} pp_heap_counts;

/*
 * A block of a bucket in one word, which is the whole record of a live block:
 *
 *   63 ........ 48 47 ......................... 0
 *   size above the   address of the bucket, or       0 = no block
 *   bucket's >> shift    address of its cell + 1
 */
typedef uint64_t pp_heap_block;

/* Whether an entry of the table of live blocks is a block. Other entries (heap.h, heap_cycles.c) have
 * a bit that no such address has. */
static inline bool pp_heap_is_block(uint64_t entry)
{
    return entry != 0 && (entry & 2) == 0;
}

/* Returns the block for a sample of a stack whose pp_stack_hash() is `hash`; 0 if the kernel
 * refuses memory. If there are labels, the block is for this sample only, and the caller must call
 * pp_heap_block_freed() or pp_heap_block_forgotten() in the end. */
pp_heap_block pp_heap_block_find(const uintptr_t *pcs, uint32_t depth, uint64_t hash, uint64_t size,
                                 uint64_t rate, pprof_labels *labels);

/* pp_heap_block_find_collected() does the same in a bucket of a collected heap; it ignores the
 * labels. */
pp_heap_block pp_heap_block_find_collected(const uintptr_t *pcs, uint32_t depth, uint64_t hash,
                                           uint64_t size, uint64_t rate, pprof_labels *labels);

/* Count an allocation; undo that (the block could not be recorded); count a free. */
void pp_heap_block_allocated(pp_heap_block block);
void pp_heap_block_forgotten(pp_heap_block block);
void pp_heap_block_freed(pp_heap_block block);

/* Counts `bytes` of the block, a mapping, as unmapped. A negative number undoes that. */
void pp_heap_block_trimmed(pp_heap_block block, int64_t bytes);

/* Returns the bytes that the block represents. */
double pp_heap_block_estimate(pp_heap_block block);
uint64_t pp_heap_block_size(pp_heap_block block);
const pp_heap_bucket *pp_heap_block_bucket(pp_heap_block block);
/* The labels of the block; NULL: none. They may be gone if the block is freed. */
const pprof_labels *pp_heap_block_labels(pp_heap_block block);

/* Count the same events for a block of a collected heap, in cycle number `index`, which is below
 * PP_HEAP_CYCLES. */
void pp_heap_block_allocated_in(pp_heap_block block, unsigned index);
void pp_heap_block_forgotten_in(pp_heap_block block, unsigned index);
void pp_heap_block_freed_in(pp_heap_block block, unsigned index);

/* Moves the counts of that cycle to the bucket's own. Several threads may do this at a time. */
void pp_heap_bucket_publish(pp_heap_bucket *bucket, unsigned index);

/* Returns the newest bucket; the others follow by `next`. NULL if there is none. */
const pp_heap_bucket *pp_heap_buckets_newest(void);
pp_heap_bucket *pp_heap_buckets_newest_collected(void); /* of collected heaps */

/* Returns a number that is at least that of the buckets in lists whose newest ones were read
 * before. */
size_t pp_heap_buckets_count(void);
/* The bytes of all buckets, without stacks. */
size_t pp_heap_buckets_bytes(void);
void pp_heap_bucket_counts(const pp_heap_bucket *bucket, pp_heap_counts *counts);
/* The largest block size that the bucket counts. */
uint64_t pp_heap_bucket_largest(const pp_heap_bucket *bucket);

/* The values of a cell, whose owner is a bucket. */
enum {
    PP_HEAP_CELL_ALLOC_OBJECTS,
    PP_HEAP_CELL_ALLOC_BYTES,
    PP_HEAP_CELL_FREE_OBJECTS, /* read before the first two: readers begin at the last value */
    PP_HEAP_CELL_FREE_BYTES,
    PP_HEAP_CELL_TRIMMED_BYTES
};
/* Returns the cells of all buckets; NULL if there are none. */
pp_label_cells *pp_heap_buckets_labels(void);

#endif
