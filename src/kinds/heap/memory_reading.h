/* SPDX-License-Identifier: MIT
 *
 * memory_reading.h: reads who holds the memory of this process (docs/MEMORY.md).
 *
 *   allocator's numbers --> smaps --> owners of addresses --> parts --> pages --> sums
 *                             '--------- again, if the process changed meanwhile ---'
 *
 * The program runs on meanwhile. A reading counts if the resident memory before and after it is the
 * same, and what it has found, within a hundredth (and what threads keep to themselves). If three
 * are not so, the last one counts, and says so. A block counts if it is the same before and after
 * its pages were asked for.
 *
 * Zone: NORMAL, and the fatal-signal writer, which does not ask the allocator.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_HEAP_MEMORY_READING_H
#define PP_KINDS_HEAP_MEMORY_READING_H

#include "base/arena.h"
#include "kinds/heap/resident.h"
#include "sys/allocator.h"
#include "sys/memory_use.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_memory_reading {
    pp_resident resident;
    pp_allocator_report allocator;
    pp_memory_said before, after;
    const char *const *names; /* of threads: `who` of their stacks' parts is the index + 1 */
    uint64_t arenas;          /* of glibc */
    unsigned passes;
    bool is_coherent;
    bool knows_pages; /* false: the kernel does not say which pages are there */
} pp_memory_reading;

/* The arena has nothing else. 0, -ENOMEM, or -errno if /proc cannot be read. */
int pp_memory_read(pp_memory_reading *reading, pp_arena *arena);

#endif
