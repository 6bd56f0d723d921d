/* SPDX-License-Identifier: MIT
 *
 * mapping_ranges.h: the table of live sampled mappings: maps a range of addresses to its record.
 *
 * A program need not unmap what it mapped in one piece: munmap may cut a piece out of a mapping, or
 * unmap several at once. So an array has the pieces that are left, in the order of addresses, and
 * each piece refers to its mapping.
 *
 *   [0x1000, 0x5000) -+-> mapping {block, size 0x8000, left 0x6000}
 *   [0x7000, 0x9000) -+
 *   [0xa000, 0xb000) ---> mapping {...}
 *
 * A mapping is freed with its last piece. Until then, its bucket counts the bytes that are unmapped
 * (pp_heap_block_trimmed).
 *
 * Zone: HOOK. mmap costs a microsecond and has few callers: a lock is cheap enough.
 * Locks: none here. The callers hold that of kinds/heap/heap_mappings.h.
 * Owns: the array and the mappings, for ever.
 */
#ifndef PP_KINDS_HEAP_MAPPING_RANGES_H
#define PP_KINDS_HEAP_MAPPING_RANGES_H

#include "kinds/heap/heap_buckets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether there is any piece. Needs no lock. */
bool pp_mapping_ranges_any(void);

/* Adds a sampled mapping, and cuts what it covers of older ones. False if the kernel refuses
 * memory. */
bool pp_mapping_ranges_insert(uintptr_t start, uint64_t size, pp_heap_block block);

/* Cuts these addresses, which were unmapped or mapped anew, out of all pieces. */
void pp_mapping_ranges_cut(uintptr_t start, uint64_t size);

typedef struct pp_mapping_range {
    uintptr_t start, limit;
    pp_heap_block block;
} pp_mapping_range;

/* The number of pieces. pp_mapping_ranges_read() copies up to `capacity` of them; returns how many. */
size_t pp_mapping_ranges_count(void);
size_t pp_mapping_ranges_read(pp_mapping_range *copies, size_t capacity);

/* Forgets all pieces without counting frees: what was in use stays in use. */
void pp_mapping_ranges_forget(void);

#endif
