/* SPDX-License-Identifier: MIT
 *
 * heap_records.c: the public functions of the heap: its rate and its records
 * [runtime.MemProfile, MemProfileRate].
 *
 * Zone: NORMAL.
 * Tested by: unit.heap_cycles, unit.heap_rows, e2e.heap_cycles
 */
#include "pprof.h"

#include "host/kind.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/heap_rows.h"
#include "sys/sanitizers.h"

#include <string.h>

PP_NEEDS_KINDS;

int64_t pprof_set_mem_profile_rate(int64_t bytes)
{
    if (bytes < 0) {
        return pp_heap_rate();
    }
    if (bytes > 0) {
        pp_call_slots_give_back();
    }
    return pp_heap_set_rate(bytes);
}

int64_t pprof_mem_record_inuse_bytes(const pprof_mem_record *r)
{
    return r->alloc_bytes - r->free_bytes;
}

int64_t pprof_mem_record_inuse_objects(const pprof_mem_record *r)
{
    return r->alloc_objects - r->free_objects;
}

static bool is_in_use(const pp_heap_row *row)
{
    return row->value[PP_HEAP_INUSE_OBJECTS] != 0;
}

static void fill_record(pprof_mem_record *record, const pp_heap_row *row)
{
    record->alloc_bytes = row->value[PP_HEAP_ALLOC_SPACE];
    record->alloc_objects = row->value[PP_HEAP_ALLOC_OBJECTS];
    record->free_bytes = record->alloc_bytes - row->value[PP_HEAP_INUSE_SPACE];
    record->free_objects = record->alloc_objects - row->value[PP_HEAP_INUSE_OBJECTS];
    uint32_t depth = row->stack->depth < PPROF_MAX_STACK ? row->stack->depth : PPROF_MAX_STACK;
    record->stack.depth = depth;
    memcpy(record->stack.pc, row->stack->pc, depth * sizeof *row->stack->pc);
    memset(record->stack.pc + depth, 0, (PPROF_MAX_STACK - depth) * sizeof *record->stack.pc);
}

bool pprof_mem_profile(pprof_mem_record *records, size_t capacity, size_t *n, bool inuse_zero)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_heap_rows rows;
    size_t count = 0;
    bool read =
        pp_heap_rows_read(PP_HEAP_NOW, PP_HEAP_RAW, PP_HEAP_INUSE_SPACE, &arena, &rows) == 0;
    for (size_t i = 0; read && i < rows.count; i++) {
        count += inuse_zero || is_in_use(&rows.list[i]);
    }
    bool fits = read && capacity >= count && (records != NULL || count == 0);
    if (fits) {
        pp_sanitizers_write(records, count * sizeof *records);
    }
    for (size_t i = 0; fits && i < rows.count; i++) {
        if (inuse_zero || is_in_use(&rows.list[i])) {
            fill_record(records++, &rows.list[i]);
        }
    }
    if (n != NULL) {
        *n = count;
    }
    pp_arena_release(&arena);
    return fits;
}

int pprof_write_heap_profile(pprof_writer writer)
{
    return pprof_profile_write(pprof_lookup("heap"), writer, 0);
}
