/* SPDX-License-Identifier: MIT
 *
 * mapping_ranges.h: which sampled mappings are alive: from a range of addresses to what was
 * recorded.
 *
 * Mappings are not freed as they were made: munmap may take a piece out of one, or several at once.
 * So they stand in an array, ordered by address, whose pieces refer to the mapping that they are
 * left of.
 *
 *   [0x1000, 0x5000) -+-> mapping {block, size 0x8000, left 0x6000}
 *   [0x7000, 0x9000) -+
 *   [0xa000, 0xb000) ---> mapping {...}
 *
 * A mapping whose last piece goes is counted as freed; what has gone of one that is still there is
 * counted in its bucket (pp_heap_block_trimmed).
 *
 * Zone: HOOK. mmap costs a microsecond and is called from few places: a lock serves here.
 * Locks: one, around the change and the system call that it belongs to. Its holder blocks signals.
 * Owns: the arrays, for ever.
 */
#ifndef PP_KINDS_HEAP_MAPPING_RANGES_H
#define PP_KINDS_HEAP_MAPPING_RANGES_H

#include "kinds/heap/heap_buckets.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether there is any: without, nothing else has to be asked. */
bool pp_mapping_ranges_any(void);

/* A sampled mapping. What it covers of older ones is cut. False if the kernel refuses memory. */
bool pp_mapping_ranges_insert(uintptr_t start, uint64_t size, pp_heap_block block);

/* These addresses are mapped no more, or anew. */
void pp_mapping_ranges_cut(uintptr_t start, uint64_t size);

/* Nothing is known any more; what was in use stays so. */
void pp_mapping_ranges_forget(void);

/* How many pieces there are. */
uint64_t pp_mapping_ranges_count(void);

#endif
