/* SPDX-License-Identifier: MIT
 *
 * live_filter.c: the counters, and the generations of the filter.
 *
 * Zone: HOOK.
 * Locks: none. One thread at a time grows the filter (live_table.c).
 * Owns: the filters. The first is in .bss, whose untouched pages all share one page of zeros.
 * Tested by: unit.live_table, interleave.live_table
 */
#include "kinds/heap/live_filter.h"

#include "base/memory.h"

enum {
    GENERATIONS = 48, /* 64 KiB doubled so often is more than an address space */
    STUCK = 255
};

/* The first filter takes one page more than its counts, which follow the header. */
static _Alignas(4096) struct {
    pp_live_filter_table table;
    uint8_t count[PP_LIVE_FILTER_BYTES_MIN];
} first;

pp_live_filter_table *pp_live_filter = &first.table;

static struct {
    uint32_t newest; /* generation */
    bool passes_all;
    pp_live_filter_table *generations[GENERATIONS];
} filters = {.generations = {&first.table}};

void pp_live_filter_init(void)
{
    if (__atomic_load_n(&first.table.mask, __ATOMIC_RELAXED) == 0) {
        __atomic_store_n(&first.table.mask, PP_LIVE_FILTER_BYTES_MIN - 1, __ATOMIC_RELEASE);
    }
}

void pp_live_filter_add(pp_live_filter_table *filter, uintptr_t address)
{
    uint8_t *count = &filter->count[pp_live_filter_hash(filter, address)];
    uint8_t now = __atomic_load_n(count, __ATOMIC_RELAXED);
    while (now != STUCK && !__atomic_compare_exchange_n(count, &now, (uint8_t)(now + 1), true,
                                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
}

void pp_live_filter_sub(pp_live_filter_table *filter, uintptr_t address)
{
    uint8_t *count = &filter->count[pp_live_filter_hash(filter, address)];
    uint8_t now = __atomic_load_n(count, __ATOMIC_RELAXED);
    while (now != STUCK && now != 0 &&
           !__atomic_compare_exchange_n(count, &now, (uint8_t)(now - 1), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
    }
}

/* A count that is stuck means "maybe" for ever. Other threads may count meanwhile. */
static void stick(uint8_t *counts, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        __atomic_store_n(&counts[i], STUCK, __ATOMIC_RELAXED);
    }
}

void pp_live_filter_pass_all(void)
{
    __atomic_store_n(&filters.passes_all, true, __ATOMIC_SEQ_CST);
    stick(first.count, sizeof first.count);
    for (uint32_t i = 1; i <= __atomic_load_n(&filters.newest, __ATOMIC_SEQ_CST); i++) {
        stick(filters.generations[i]->count, filters.generations[i]->mask + 1);
    }
}

pp_live_filter_table *pp_live_filter_of(uint32_t generation)
{
    const pp_live_filter_table *current = __atomic_load_n(&pp_live_filter, __ATOMIC_ACQUIRE);
    return generation >= current->generation ? filters.generations[generation] : NULL;
}

pp_live_filter_table *pp_live_filter_newest(void)
{
    return filters.generations[__atomic_load_n(&filters.newest, __ATOMIC_SEQ_CST)];
}

bool pp_live_filter_is_growing(void)
{
    return pp_live_filter_newest() != __atomic_load_n(&pp_live_filter, __ATOMIC_ACQUIRE);
}

static size_t table_bytes(const pp_live_filter_table *filter)
{
    return sizeof *filter + filter->mask + 1;
}

pp_live_filter_table *pp_live_filter_begin_growth(void)
{
    const pp_live_filter_table *current = pp_live_filter;
    uint32_t next = current->generation + 1;
    size_t bytes = 2 * (current->mask + 1);
    pp_live_filter_table *filter =
        next < GENERATIONS ? pp_memory_map(sizeof *filter + bytes) : NULL;
    if (filter == NULL) {
        return NULL;
    }
    filter->mask = bytes - 1;
    filter->generation = next;
    filters.generations[next] = filter;
    __atomic_store_n(&filters.newest, next, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&filters.passes_all, __ATOMIC_SEQ_CST)) {
        stick(filter->count, bytes);
    }
    return filter;
}

/*
 * A thread may be about to read the old filter, which is never unmapped. The kernel gets the memory
 * of the filter before that one. A thread that has been about to read it since the last growth
 * finds zeros, and leaves a stale record.
 */
void pp_live_filter_end_growth(void)
{
    pp_live_filter_table *filter = pp_live_filter_newest();
    __atomic_store_n(&pp_live_filter, filter, __ATOMIC_SEQ_CST);
    if (filter->generation >= 2) {
        pp_live_filter_table *retired = filters.generations[filter->generation - 2];
        pp_memory_empty(retired->count, table_bytes(retired) - sizeof *retired);
    }
}
