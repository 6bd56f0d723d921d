/* SPDX-License-Identifier: MIT
 *
 * memory_reading.c: see memory_reading.h.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: that of kinds/heap/heap_mappings.h, to copy the list of mappings.
 * Tested by: e2e.memory
 */
#include "kinds/heap/memory_reading.h"

#include "base/exponential.h"
#include "base/memory.h"
#include "kinds/heap/data_limits.h"
#include "kinds/heap/heap_mappings.h"
#include "kinds/heap/leak_blocks.h"
#include "kinds/heap/libc_arenas.h"
#include "kinds/heap/live_table.h"
#include "kinds/heap/mapping_ranges.h"
#include "kinds/heap/page_runs.h"
#include "modules/code_query.h"
#include "modules/own_code.h"
#include "sys/apart.h"
#include "sys/own_threads.h"
#include "sys/task_state.h"
#include "sys/tasks.h"
#include "threads/thread_table.h"
#include "unwind/in_handler.h"

#include <errno.h>
#include <string.h>

enum {
    MOST_PASSES = 3,
    HUNDREDTH = 100,
    COUNTERS_BYTES = 1 << 20, /* by which the kernel's counters may be off */
    ENTRIES_BYTES = 1024,
    OWN_SPANS = 1024, /* more than base/memory.c lists */
    SOME = 64,        /* for what comes while it is counted */
    THREE_LISTS = 3 * SOME
};

typedef struct pass {
    pp_memory_reading *reading;
    pp_arena *arena;
    pp_page_runs *runs;
    int open_error; /* of these */
    pp_resident_span *spans;
    size_t span_count, span_capacity;
    int error;
} pass;

/* ---- owners ---- */

static void add_span(pass *p, uintptr_t start, uintptr_t limit, pp_holder holder, uint64_t who)
{
    if (p->span_count < p->span_capacity && start < limit) {
        p->spans[p->span_count++] = (pp_resident_span){start, limit, holder, who};
    }
}

static void add_own(uintptr_t start, size_t bytes, void *of_pass)
{
    add_span(of_pass, start, start + bytes, PP_HOLDER_OWN, 0);
}

static void add_reading(uintptr_t start, size_t bytes, void *of_pass)
{
    add_span(of_pass, start, start + bytes, PP_HOLDER_READING, 0);
}

static void add_own_memory(pass *p)
{
    uintptr_t from = 0;
    uintptr_t to = 0;
    pp_arena_each(p->arena, add_reading, p);
    pp_own_variables(&from, &to);
    add_span(p, from, to, PP_HOLDER_OWN, 0);
    pp_memory_each(add_own, p);
}

static void add_mappings(pass *p)
{
    pp_signal_mask old = 0;
    size_t capacity = pp_mapping_ranges_count() + SOME;
    pp_mapping_range *list = pp_arena_array(p->arena, capacity, sizeof *list);
    if (list == NULL || !pp_heap_mappings_enter(&old)) {
        return;
    }
    size_t count = pp_mapping_ranges_read(list, capacity);
    pp_heap_mappings_leave(&old);
    for (size_t i = 0; i < count; i++) {
        add_span(p, list[i].start, list[i].limit, PP_HOLDER_MAPPINGS, list[i].block);
    }
}

static void add_arenas(pass *p, const pp_libc_arenas *found)
{
    for (size_t i = 0; i < found->count; i++) {
        add_span(p, found->spans[i].start, found->spans[i].limit, found->spans[i].holder,
                 found->spans[i].who);
    }
}

/* ---- stacks of threads ---- */

typedef struct listing {
    pass *pass;
    const pp_thread_record *records;
    size_t record_count;
    const char **names;
    size_t count, capacity;
    int folder;
} listing;

/* The area that has the address, after memory that cannot be read: a stack; else NULL. */
static const pp_map_line *find_stack(const pp_smaps *areas, uintptr_t address)
{
    size_t low = 0;
    size_t high = areas->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (areas->list[middle].map.limit <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0 || low == areas->count || areas->list[low].map.start > address) {
        return NULL;
    }
    const pp_map_line *before = &areas->list[low - 1].map;
    bool guarded = before->limit == areas->list[low].map.start && !before->readable;
    return guarded && areas->list[low].map.writable ? &areas->list[low].map : NULL;
}

static const pp_thread_record *record_of(const listing *l, int tid)
{
    for (size_t i = 0; i < l->record_count; i++) {
        if (l->records[i].tid == tid) {
            return &l->records[i];
        }
    }
    return NULL;
}

/* An address in the thread's stack: that of a thread-local variable, or where it waits; 0: none is
 * known. */
static uintptr_t address_in_stack(const listing *l, const pp_thread_record *record, int tid)
{
    pp_task_place place;
    if (record != NULL && record->place != NULL) {
        return (uintptr_t)record->place;
    }
    return pp_task_look(l->folder, tid, &place) == PP_TASK_WAITS ? place.sp : 0;
}

static void list_thread(int tid, void *of_listing)
{
    listing *l = of_listing;
    const pp_thread_record *record = record_of(l, tid);
    char name[PP_TASK_NAME_BYTES];
    const pp_map_line *stack =
        find_stack(&l->pass->reading->resident.areas, address_in_stack(l, record, tid));
    bool ours = record != NULL && record->ours;
    if (stack == NULL || l->count == l->capacity) {
        return;
    }
    pp_task_name(l->folder, tid, name);
    l->names[l->count++] = pp_arena_text(l->pass->arena, name, strlen(name));
    add_span(l->pass, stack->start, stack->limit, ours ? PP_HOLDER_OWN : PP_HOLDER_STACKS,
             ours ? 0 : l->count);
}

static void add_stacks(pass *p)
{
    char entries[ENTRIES_BYTES];
    size_t record_capacity = pp_thread_table_count() + SOME;
    pp_thread_record *records = pp_arena_array(p->arena, record_capacity, sizeof *records);
    listing l = {.pass = p, .records = records, .capacity = pp_tasks_count() + SOME};
    l.names = pp_arena_array(p->arena, l.capacity, sizeof *l.names);
    if (records == NULL || l.names == NULL) {
        return;
    }
    l.record_count = pp_thread_table_read(records, NULL, record_capacity);
    l.folder = pp_task_open();
    if (l.folder >= 0) {
        pp_tasks_each(entries, sizeof entries, list_thread, &l);
        pp_task_close(l.folder);
    }
    p->reading->names = l.names;
}

/* ---- blocks ---- */

static int list_blocks(pass *p)
{
    pp_resident *resident = &p->reading->resident;
    pp_leak_blocks live;
    int error = pp_leak_blocks_list(&live, p->arena);
    if (error != 0) {
        return error;
    }
    resident->blocks = pp_arena_array(p->arena, live.count + 1, sizeof *resident->blocks);
    if (resident->blocks == NULL) {
        return -ENOMEM;
    }
    for (; resident->block_count < live.count; resident->block_count++) {
        const pp_leak_block *block = &live.list[resident->block_count];
        resident->blocks[resident->block_count] = (pp_resident_block){
            .start = block->start,
            .limit = block->start + (block->size > 0 ? block->size : 1),
            .record = block->record,
            .weight = pp_blocks_per_sample((double)block->size,
                                           pp_heap_block_bucket(block->record)->rate)};
    }
    return 0;
}

static void leave_out_changed(pp_resident *resident)
{
    for (size_t i = 0; i < resident->block_count; i++) {
        pp_live_entry entry;
        pp_resident_block *block = &resident->blocks[i];
        if (!pp_live_table_find(block->start, &entry) || entry.value != block->record) {
            block->weight = block->resident = block->swapped = 0;
        }
    }
}

/* ---- pages ---- */

static int add_pages_of(pass *p, const pp_map_line *map)
{
    uintptr_t at = map->start;
    int error = 0;
    while (at < map->limit && error == 0) {
        error = pp_page_runs_read(p->runs, at, map->limit, false, &at);
        for (size_t i = 0; i < p->runs->count && error == 0; i++) {
            const pp_page_run *run = &p->runs->list[i];
            pp_resident_add_pages(&p->reading->resident, run->start, run->limit,
                                  run->state == PP_PAGE_SWAPPED);
        }
    }
    return error == -ESRCH ? 0 : error; /* the memory has gone */
}

static void add_pages(pass *p)
{
    pp_resident *resident = &p->reading->resident;
    int error = p->open_error;
    for (size_t i = 0; i < resident->areas.count && error == 0; i++) {
        if (pp_resident_needs_pages(resident, i)) {
            error = add_pages_of(p, &resident->areas.list[i].map);
        }
    }
    p->reading->knows_pages = error == 0;
}

/* ---- a pass ---- */

static int find_owners(pass *p)
{
    pp_libc_arenas arenas = {.arenas = 0};
    pp_smaps *areas = &p->reading->resident.areas;
    pp_data_limits_find(areas, NULL);
    int error = p->reading->allocator.name == NULL || p->reading->allocator.is_libc
                    ? pp_libc_arenas_find(areas, NULL, p->open_error == 0 ? p->runs : NULL,
                                          p->arena, &arenas)
                    : 0;
    p->reading->arenas = arenas.arenas;
    p->span_capacity =
        OWN_SPANS + pp_mapping_ranges_count() + arenas.count + pp_tasks_count() + THREE_LISTS;
    p->spans = pp_arena_array(p->arena, p->span_capacity, sizeof *p->spans);
    if (error != 0 || p->spans == NULL) {
        return -ENOMEM;
    }
    add_own_memory(p);
    add_mappings(p);
    add_arenas(p, &arenas);
    add_stacks(p);
    return 0;
}

static void read_all(void *of_pass)
{
    pass *p = of_pass;
    pp_resident *resident = &p->reading->resident;
    *resident = (pp_resident){.part = 0};
    p->runs = pp_arena_alloc(p->arena, sizeof *p->runs);
    int error = p->runs == NULL ? -ENOMEM : list_blocks(p);
    p->open_error = error == 0
                        ? pp_page_runs_open(p->runs, PP_OWN_PAGEMAP, pp_code_query_is_permitted())
                        : error;
    if (error == 0) {
        error = pp_smaps_read("/proc/thread-self/smaps", p->arena, &resident->areas);
    }
    if (error == 0) {
        error = find_owners(p);
    }
    if (error == 0) {
        error = pp_resident_cut(resident, p->spans, p->span_count, p->arena);
    }
    if (error == 0) {
        add_pages(p);
        leave_out_changed(resident);
        pp_resident_settle(resident);
    }
    if (p->open_error == 0) {
        pp_page_runs_close(p->runs);
    }
    p->error = error;
}

/* ---- coherence ---- */

static void add_bytes(uintptr_t start, size_t bytes, void *sum)
{
    (void)start;
    *(uint64_t *)sum += bytes;
}

static bool is_within(uint64_t said, uint64_t least, uint64_t most)
{
    uint64_t tolerance = most / HUNDREDTH + COUNTERS_BYTES;
    return said + tolerance >= least && said <= most + tolerance;
}

/* After it, the memory of the reading itself is there. The counters may differ from the sum of the
 * pages, but both times by the same. */
static bool is_coherent(const pp_memory_reading *reading, const pp_arena *arena)
{
    uint64_t sum = reading->resident.sum;
    uint64_t before = reading->before.resident;
    uint64_t kept = reading->before.kept;
    uint64_t own = 0;
    pp_arena_each(arena, add_bytes, &own);
    return is_within(before, sum > kept ? sum - kept : 0, sum + kept) &&
           is_within(reading->after.resident, before, before + own);
}

int pp_memory_read(pp_memory_reading *reading, pp_arena *arena)
{
    pass p = {.reading = reading, .arena = arena};
    *reading = (pp_memory_reading){.passes = 0};
    if (!pp_in_handler()) {
        pp_allocator_ask(&reading->allocator);
    }
    while (p.error == 0 && !reading->is_coherent && reading->passes < MOST_PASSES) {
        pp_arena_release(arena);
        p.span_count = 0;
        reading->passes++;
        pp_memory_ask(&reading->before);
        pp_apart(read_all, &p);
        pp_memory_ask(&reading->after);
        reading->is_coherent = is_coherent(reading, arena);
    }
    return p.error;
}
