/* SPDX-License-Identifier: MIT
 *
 * memory_stats.c: collects the numbers of the kernel and of the allocator, and sums rows.
 *
 * Zone: NORMAL.
 */
#include "kinds/heap/memory_stats.h"

#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/live_table.h"
#include "store/stack_ranks.h"
#include "store/stack_trie.h"
#include "sys/allocator.h"
#include "sys/memory_use.h"

enum {
    STEP = 16,
    STEPS = 8, /* 16 .. 128 */
    QUARTER_BITS = 2,
    FIRST_DOUBLING = 7 /* 128 = 2^7 */
};

static uint64_t size_of_class(unsigned index)
{
    if (index < STEPS) {
        return (uint64_t)(index + 1) * STEP;
    }
    unsigned doubling = FIRST_DOUBLING + ((index - STEPS) >> QUARTER_BITS);
    unsigned quarter = ((index - STEPS) & ((1 << QUARTER_BITS) - 1)) + 1;
    return (UINT64_C(1) << doubling) + ((uint64_t)quarter << (doubling - QUARTER_BITS));
}

unsigned pp_size_class_of(uint64_t size)
{
    unsigned index = 0;
    while (index < PP_SIZE_CLASSES && size_of_class(index) < size) {
        index++;
    }
    return index;
}

void pp_memory_stats_read(pp_memory_stats *stats)
{
    *stats = (pp_memory_stats){0};
    pp_allocator_use use;
    stats->is_libc = pp_allocator_read(&use);
    if (stats->is_libc) {
        stats->heap_alloc = use.used;
        stats->heap_sys = use.mapped;
        stats->heap_idle = use.mapped - use.used;
    }
    stats->stack = pp_memory_stack_bytes();
    stats->peak_rss = pp_memory_peak_rss_bytes();
    stats->own = pp_live_table_bytes() + pp_heap_buckets_bytes() + pp_stack_trie_bytes() +
                 pp_stack_ranks_bytes();
    pp_heap_collector_read(&stats->collector);
    for (unsigned i = 0; i < PP_SIZE_CLASSES; i++) {
        stats->by_size[i].size = size_of_class(i);
    }
}

void pp_memory_stats_estimate(const pp_heap_rows *rows, pp_memory_stats *stats)
{
    uint64_t in_use = 0;
    for (size_t i = 0; i < rows->count; i++) {
        pp_heap_row row = rows->list[i];
        if (!rows->scaled) {
            pp_heap_row_scale(&row);
        }
        uint64_t mallocs = (uint64_t)row.value[PP_HEAP_ALLOC_OBJECTS];
        uint64_t live = (uint64_t)row.value[PP_HEAP_INUSE_OBJECTS];
        uint64_t frees = mallocs > live ? mallocs - live : 0;
        stats->mallocs += mallocs;
        stats->frees += frees;
        stats->total_alloc += (uint64_t)row.value[PP_HEAP_ALLOC_SPACE];
        in_use += (uint64_t)row.value[PP_HEAP_INUSE_SPACE];
        unsigned class = pp_size_class_of(row.alloc_bytes / row.alloc_objects);
        if (class < PP_SIZE_CLASSES) {
            stats->by_size[class].mallocs += mallocs;
            stats->by_size[class].frees += frees;
        }
    }
    if (!stats->is_libc) {
        stats->heap_alloc = stats->heap_sys = in_use;
    }
}
