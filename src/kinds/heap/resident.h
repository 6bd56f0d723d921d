/* SPDX-License-Identifier: MIT
 *
 * resident.h: says who holds each page that is in memory.
 *
 *   areas (smaps)   [ heap of the program ............ ][ file ][ stack ]      how much is resident
 *   spans           [arena 1      ]     [mapping by mmap]                      who has the addresses
 *   parts           [arena 1      |rest |mapping        ][ file ][ stack ]
 *   pages           ..PPPP...PPPPPP....PPP..                                   which are resident
 *   blocks             bb b bbbb                                               sampled live blocks
 *
 * The areas are the truth: what the pages of an area add up to is set right by what the area has. So
 * the sum of all parts is the resident memory of the process.
 *
 * Zone: NORMAL, and the fatal-signal writer (pure arithmetic).
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_HEAP_RESIDENT_H
#define PP_KINDS_HEAP_RESIDENT_H

#include "base/arena.h"
#include "modules/smaps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pp_holder {
    PP_HOLDER_BLOCKS,    /* live blocks of the allocator */
    PP_HOLDER_ALLOCATOR, /* the rest of its memory */
    PP_HOLDER_STACKS,    /* of threads */
    PP_HOLDER_MAPPINGS,  /* memory that the program has mapped */
    PP_HOLDER_SHARED,    /* shared memory: shm, memfd, MAP_SHARED */
    PP_HOLDER_CODE,      /* code and constants of loaded files */
    PP_HOLDER_DATA,      /* variables of loaded files */
    PP_HOLDER_FILES,     /* other files that are mapped: the page cache's */
    PP_HOLDER_KERNEL,    /* [vdso] and the like */
    PP_HOLDER_OWN,       /* libpprof's */
    PP_HOLDER_UNKNOWN,   /* memory without a file that nobody of these has */
    PP_HOLDER_READING,   /* of the reading itself: gone when it is over, and in no sum */
    PP_HOLDERS
} pp_holder;

/* Addresses whose holder is known. Where spans overlap, the first in the list has the addresses. */
typedef struct pp_resident_span {
    uintptr_t start, limit;
    pp_holder holder;
    uint64_t
        who; /* of a mapping: its pp_heap_block; of an arena: its number; of a stack: the thread */
} pp_resident_span;

/* A piece of an area with one holder. */
typedef struct pp_resident_part {
    uintptr_t start, limit;
    uint32_t area;
    pp_holder holder;
    uint64_t who;
    double resident, swapped; /* bytes; in the end without those of `blocks` */
    double blocks;            /* the estimate of all live blocks there */
} pp_resident_part;

/* A sampled live block. */
typedef struct pp_resident_block {
    uintptr_t start, limit;
    uint64_t record; /* pp_heap_block */
    double weight;   /* how many blocks it represents */
    uint32_t part;
    double resident, swapped; /* bytes of the sampled block itself */
} pp_resident_block;

typedef struct pp_resident {
    pp_smaps areas;
    pp_resident_part *parts; /* ascending, without gaps in an area */
    size_t part_count;
    pp_resident_block *blocks; /* ascending */
    size_t block_count;
    size_t part, block; /* where pages are being added */
    uint64_t sum;       /* resident bytes of all areas, in the end without the reading's */
} pp_resident;

/* The holder of an area of which nothing else is known. */
pp_holder pp_resident_holder(const pp_smaps *areas, size_t index);

/* Whether the area has no file, and meets the variables of one: it begins with those that have no value
 * in the file. */
bool pp_resident_is_after_variables(const pp_smaps *areas, size_t index);

/* Cuts the areas into parts. The spans are sorted. 0 or -ENOMEM. */
int pp_resident_cut(pp_resident *resident, pp_resident_span *spans, size_t count, pp_arena *arena);

/* Whether pages have to be asked for: the area has several parts, or sampled blocks. */
bool pp_resident_needs_pages(pp_resident *resident, size_t area);

/* Adds pages that are in memory, or swapped out; in ascending order. */
void pp_resident_add_pages(pp_resident *resident, uintptr_t start, uintptr_t limit, bool swapped);

/* Sets each area's parts and blocks right by what the area has, and adds up the blocks of each part.
 * All pages have been added. */
void pp_resident_settle(pp_resident *resident);

#endif
