/* SPDX-License-Identifier: MIT
 *
 * heap_buckets.h: what was allocated and freed, for each stack, block size and rate, and of that
 * for each set of labels.
 *
 * A trie of hashes, as that of the stacks (stack_trie.h): buckets are found by the hash of their
 * stack and of what else tells them apart, and stay for ever.
 *
 *   roots[hash] -> bucket -+-> bucket           bucket: stack, size, rate, counts
 *                          +-> bucket
 *   newest -> bucket -> bucket -> ...           all buckets, for a snapshot; two lists
 *
 * Sizes. Buckets are told apart by the exact block size. Programs that allocate blocks of every
 * size at one place (strings, network buffers) would make a bucket for each: a stack that has
 * EXACT_SIZES of them puts further sizes into classes, eight to each doubling, whose number is
 * bounded. The counts of bytes stay exact there, and so does what the samples stand for: a small
 * block of a class stands for more blocks than a large one, and the mean of the sizes would say
 * less than both together (0.12 % less at worst). Each sample is counted with its weight: the
 * blocks that it stands for, in units of those that one of the least size would.
 *
 * Labels. A bucket counts all blocks. Those of a labelled thread are counted in a cell
 * (label_cells.h) beside it, which is in use as long as one of them lives. Where no cell is to be
 * had, a block goes without labels.
 *
 * Collected heaps. Blocks of a heap that the program tells of (kinds/heap/heap_cycles.h) have buckets
 * of their own, in the same trie but in a list of their own. What happens there is counted in one
 * of three cycles first, and is added to the bucket's own counts when that cycle is published. They
 * have no labels.
 *
 * Zone: HOOK.
 * Owns: buckets, for ever.
 */
#ifndef PP_KINDS_HEAP_HEAP_BUCKETS_H
#define PP_KINDS_HEAP_HEAP_BUCKETS_H

#include "store/stack_trie.h"

#include "store/label_cells.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was counted in one cycle of a collector, and is not published yet. */
typedef struct pp_heap_cycle {
    uint64_t alloc_objects, alloc_bytes;
    uint64_t free_objects, free_bytes;
} pp_heap_cycle;

enum {
    PP_HEAP_CYCLES = 3,
    PP_HEAP_WEIGHT_BITS = 20 /* to a millionth; sums of 2^43 samples fit */
};

typedef struct pp_heap_bucket {
    struct pp_heap_bucket *child[4];
    struct pp_heap_bucket *next; /* the one that was made before it */
    const pp_trie_stack *stack;
    uint64_t size;         /* of the blocks, or the least of its class */
    uint16_t is_class;     /* blocks of size .. 1.125 size - 1 */
    uint16_t is_collected; /* of a heap that the program describes: see below */
    uint32_t shift;        /* of the part of the size above the least */
    uint64_t rate;         /* at which its samples were taken */
    /* Raw samples. Allocations are counted before, frees after the block can be found. */
    uint64_t alloc_objects, alloc_bytes;
    uint64_t free_objects, free_bytes;
    uint64_t trimmed_bytes; /* of mappings in use that are not whole any more */
    uint64_t alloc_weight,
        free_weight;        /* of a class that is not collected; 2^PP_HEAP_WEIGHT_BITS each */
    double least_blocks;    /* what a sample of the least size stands for */
    pp_heap_cycle future[]; /* PP_HEAP_CYCLES of them where is_collected, else none */
} pp_heap_bucket;

/* What a snapshot reads from a bucket; never more freed than allocated. */
typedef struct pp_heap_counts {
    uint64_t alloc_objects, alloc_bytes;
    uint64_t free_objects, free_bytes;
    uint64_t trimmed_bytes; /* no more than what is not free */
    uint64_t alloc_weight, free_weight;
} pp_heap_counts;

/*
 * A block of a bucket in one word, which is all that has to be remembered of a live block:
 *
 *   63 ........ 48 47 ......................... 0
 *   size above the   address of the bucket, or       0 = no block
 *   bucket's >> shift    that of a cell of its + 1
 */
typedef uint64_t pp_heap_block;

/* The block for a sample of a stack whose pp_stack_hash() is `hash`; 0 if the kernel refuses
 * memory. With labels it is for this one sample, which has to be freed or forgotten. */
pp_heap_block pp_heap_block_find(const uintptr_t *pcs, uint32_t depth, uint64_t hash, uint64_t size,
                                 uint64_t rate, pprof_labels *labels);

/* The same in a bucket of a collected heap; the labels are ignored. */
pp_heap_block pp_heap_block_find_collected(const uintptr_t *pcs, uint32_t depth, uint64_t hash,
                                           uint64_t size, uint64_t rate, pprof_labels *labels);

/* Counts an allocation, undoes that (the block could not be remembered), counts a free. */
void pp_heap_block_allocated(pp_heap_block block);
void pp_heap_block_forgotten(pp_heap_block block);
void pp_heap_block_freed(pp_heap_block block);

/* A part of the block, a mapping, is gone; less than nothing: it does not count any more. */
void pp_heap_block_trimmed(pp_heap_block block, int64_t bytes);

/* What the block stands for, in bytes. */
double pp_heap_block_estimate(pp_heap_block block);
uint64_t pp_heap_block_size(pp_heap_block block);

/* The same for a block of a collected heap, in the cycle number `index` (0 to PP_HEAP_CYCLES
 * - 1). */
void pp_heap_block_allocated_in(pp_heap_block block, unsigned index);
void pp_heap_block_forgotten_in(pp_heap_block block, unsigned index);
void pp_heap_block_freed_in(pp_heap_block block, unsigned index);

/* Moves what was counted in that cycle to the bucket's own counts. Any number at a time. */
void pp_heap_bucket_publish(pp_heap_bucket *bucket, unsigned index);

/* The newest bucket; the others follow by `next`. NULL if there is none. */
const pp_heap_bucket *pp_heap_buckets_newest(void);
pp_heap_bucket *pp_heap_buckets_newest_collected(void); /* the same for collected heaps */
size_t pp_heap_buckets_bytes(void);                     /* what they take, without stacks */
void pp_heap_bucket_counts(const pp_heap_bucket *bucket, pp_heap_counts *counts);
/* The size of its largest block. */
uint64_t pp_heap_bucket_largest(const pp_heap_bucket *bucket);

/* The parts of labels; owners are buckets. NULL: there are none. */
enum {
    PP_HEAP_CELL_ALLOC_OBJECTS,
    PP_HEAP_CELL_ALLOC_BYTES,
    PP_HEAP_CELL_FREE_OBJECTS, /* are read before the others */
    PP_HEAP_CELL_FREE_BYTES,
    PP_HEAP_CELL_TRIMMED_BYTES
};
pp_label_cells *pp_heap_buckets_labels(void);

#endif
