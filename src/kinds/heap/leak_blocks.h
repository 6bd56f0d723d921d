/* SPDX-License-Identifier: MIT
 *
 * leak_blocks.h: the sampled blocks at a moment, and which of them are reached from elsewhere.
 *
 *   live table --> blocks by address --> index of pages: is this word the address of a block?
 *
 *   words outside of blocks (roots) --> block --> block     reached
 *                                       block <-> block     not reached: a candidate
 *
 * A word is the address of a block if its low 48 bits are an address in the block, or just after it
 * where no other block begins. A word in a block counts once that block is reached: until then it is
 * an edge. So pp_leak_blocks_look() may see memory in any order.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none; belongs to one thread.
 * Owns: nothing; everything is in two arenas: one for the search, one for each pass.
 */
#ifndef PP_KINDS_HEAP_LEAK_BLOCKS_H
#define PP_KINDS_HEAP_LEAK_BLOCKS_H

#include "base/arena.h"
#include "kinds/heap/heap_buckets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_leak_block {
    uintptr_t start;
    uint64_t size;
    pp_heap_block record;
    uint64_t birth_ns;   /* 0: not known */
    uint64_t contents;   /* a sum of what is in the block, of a candidate */
    uint32_t first_edge; /* 0: none */
    uint32_t next;       /* of a list of blocks: the index + 1 */
    bool reached;
} pp_leak_block;

/* From a block that is not reached to another one. */
typedef struct pp_leak_edge {
    uint32_t next; /* of the same block; 0: none */
    uint32_t to;   /* the index of a block */
} pp_leak_edge;

struct pp_leak_pages; /* a GiB of the index */

/* Where blocks are: addresses from `lowest` to `lowest + span`. */
typedef struct pp_leak_near {
    uintptr_t lowest, span;
} pp_leak_near;

/* The last block that was found: the `bytes` from `start` on are addresses of no other block. */
typedef struct pp_leak_last {
    uintptr_t start;
    uint64_t bytes;
    uint32_t index;
} pp_leak_last;

typedef struct pp_leak_blocks {
    pp_leak_block *list; /* ascending */
    uint64_t *
        starts; /* of the list, and whether it is reached: what most words need, in few cache lines */
    uint32_t count;
    uint32_t candidates; /* at the end of the last pass */
    /* Every block of the program is in the list, and the program makes and frees none: other memory
     * of its allocator is free memory, whose words do not count. */
    bool complete;
    /* If complete: others than the allocator have memory at the program break, too. */
    bool shares_break;
    /* If complete: the program asks how large blocks are, and uses what is beyond their sizes. */
    bool uses_slack;
    uintptr_t break_start, break_limit; /* the allocator's, if `complete` */
    struct pp_leak_pages **index;
    pp_leak_near near[2]; /* before and after the largest gap between two blocks */
    pp_leak_last target;  /* of the last reference */
    pp_leak_last holder;  /* the block that had it */
    uint32_t reached;     /* list of blocks whose edges are to be followed */
    pp_leak_edge **edges;
    uint32_t edge_count;
    bool edges_failed;
    pp_arena *of_pass;
} pp_leak_blocks;

/* Reads the live table, and sorts what is in it; for a caller that needs only the list. 0 or -ENOMEM. */
int pp_leak_blocks_list(pp_leak_blocks *blocks, pp_arena *arena);

/* pp_leak_blocks_read() does the same for a search. */
int pp_leak_blocks_read(pp_leak_blocks *blocks, pp_arena *arena);

/* Begins a pass, which looks for the candidates: at first all blocks. 0 or -ENOMEM. */
int pp_leak_blocks_begin(pp_leak_blocks *blocks, pp_arena *of_pass);

/* Looks at words (a pp_leak_visit, leak_memory.h). */
void pp_leak_blocks_look(void *blocks, uintptr_t address, const uint64_t *words, size_t count);

/* Marks a block as reached; pp_leak_blocks_end() follows the edges, and counts candidates. */
void pp_leak_blocks_reach(pp_leak_blocks *blocks, uint32_t index);
void pp_leak_blocks_end(pp_leak_blocks *blocks);

/* The edge after a block's `first_edge`; NULL after the last one. Valid during a pass. */
const pp_leak_edge *pp_leak_blocks_edge(const pp_leak_blocks *blocks, uint32_t edge);

#endif
