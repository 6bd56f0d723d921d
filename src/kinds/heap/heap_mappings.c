/* SPDX-License-Identifier: MIT
 *
 * heap_mappings.c: records a sampled mapping: its stack, its bucket, its range of addresses.
 *
 * Zone: HOOK.
 * Locks: `lock`.
 * Tested by: unit.mapping_ranges, e2e.heap_mappings
 */
#include "kinds/heap/heap_mappings.h"

#include "kinds/heap/heap_peak.h"
#include "kinds/heap/mapping_ranges.h"
#include "sys/lock.h"
#include "sys/tasks.h"

#include <errno.h>

static pp_lock lock;

__attribute__((visibility("hidden"), used, noinline)) void pprof_file_mapping(void)
{
    __asm__ volatile("");
}

bool pp_heap_mappings_enter(pp_signal_mask *old)
{
    int self = pp_task_self();
    if (pp_lock_held_by(&lock, self)) {
        return false;
    }
    pp_lock_enter(&lock, self, old);
    return true;
}

void pp_heap_mappings_leave(const pp_signal_mask *old)
{
    pp_lock_leave(&lock, old);
}

bool pp_heap_mappings_any(void)
{
    return pp_mapping_ranges_any();
}

void pp_heap_unmapped(uintptr_t start, uint64_t size)
{
    pp_mapping_ranges_cut(start, size);
}

void pp_heap_mappings_after_fork_in_child(void)
{
    if (pp_lock_holder(&lock) != 0) {
        pp_mapping_ranges_forget(); /* the fork interrupted a change */
    }
    pp_lock_release(&lock);
}

void pp_heap_mapped(uintptr_t start, uint64_t size, bool of_file, uint64_t rate,
                    const pp_caller *caller)
{
    int saved_errno = errno;
    uintptr_t kind = of_file ? (uintptr_t)pprof_file_mapping : 0;
    pp_heap_block block = pp_heap_find_block(kind, size, rate, caller, pp_heap_block_find);
    if (block == 0) {
        pp_heap_lose(size, rate);
    } else {
        pp_heap_block_allocated(block);
        if (!pp_mapping_ranges_insert(start, size, block)) {
            pp_heap_block_forgotten(block);
            pp_heap_lose(size, rate);
        } else if (pp_heap_peak_is_wanted()) {
            pp_heap_peak_add((int64_t)pp_heap_block_estimate(block));
        }
    }
    errno = saved_errno;
}
