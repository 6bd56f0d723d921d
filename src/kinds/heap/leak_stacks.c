/* SPDX-License-Identifier: MIT
 *
 * leak_stacks.c: joins the snapshot of the threads with the mappings of their stacks.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.leak
 */
#include "kinds/heap/leak_stacks.h"

#include "sys/own_threads.h"
#include "sys/tasks.h"
#include "threads/thread_table.h"
#include "unwind/callers.h"

#include "pprof.h"

#include <errno.h>

enum { RED_ZONE = 128 /* below SP, that a function may use without moving it (x86-64 psABI) */ };

static bool may_look; /* at other threads */

void pp_leak_stacks_permit(bool look)
{
    __atomic_store_n(&may_look, look, __ATOMIC_RELAXED);
}

static bool waits(const pp_thread_row *row)
{
    return row->state == PP_THREAD_WAITS_IN_CALL || row->state == PP_THREAD_WAITS;
}

/* Where the unused part of a thread's stack begins; 0: not sure. `variable`: in the thread's own
 * memory, 0: not known. */
static uintptr_t stack_start(const pp_leak_memory *memory, uintptr_t sp, uintptr_t variable)
{
    const pp_leak_range *range = pp_leak_memory_find(memory, sp);
    if (range == NULL) {
        return 0;
    }
    bool own = range->guarded && variable > sp && variable < range->at.limit;
    return range->main_stack || own ? range->at.start : 0;
}

static uintptr_t variable_of(const pp_thread_record *records, size_t count, int tid)
{
    for (size_t i = 0; i < count; i++) {
        if (records[i].tid == tid) {
            return (uintptr_t)records[i].place;
        }
    }
    return 0;
}

static void hide(pp_leak_memory *memory, uintptr_t start, uintptr_t sp)
{
    if (start != 0) {
        pp_leak_memory_hide(memory, start, sp);
    }
}

static int hide_rests(pp_leak_stacks *stacks, pp_leak_memory *memory, pp_arena *arena)
{
    size_t capacity = pp_thread_table_count();
    pp_thread_record *records = pp_arena_array(arena, capacity + 1, sizeof *records);
    stacks->rests = pp_arena_array(arena, stacks->threads.count + 1, sizeof *stacks->rests);
    if (records == NULL || stacks->rests == NULL) {
        return -ENOMEM;
    }
    size_t count = pp_thread_table_read(records, NULL, capacity);
    for (size_t i = 1; i < stacks->threads.count; i++) {
        const pp_thread_row *row = &stacks->threads.rows[i];
        if (!waits(row)) {
            continue;
        }
        uintptr_t sp = row->place.sp - RED_ZONE;
        uintptr_t start = stack_start(memory, sp, variable_of(records, count, row->tid));
        if (start != 0) {
            stacks->rests[stacks->rest_count++] =
                (pp_leak_rest){{start, sp}, row->tid, row->clock_ns};
        }
        hide(memory, start, sp);
    }
    return 0;
}

int pp_leak_stacks_read(pp_leak_stacks *stacks, uintptr_t sp, bool alone, pp_leak_memory *memory,
                        pp_arena *arena)
{
    *stacks = (pp_leak_stacks){0};
    hide(memory, stack_start(memory, sp, (uintptr_t)&pp_thread_marks), sp);
    if (alone) {
        return 0;
    }
    uintptr_t *pcs = pp_arena_array(arena, PPROF_MAX_STACK, sizeof *pcs);
    if (pcs == NULL) {
        return -ENOMEM;
    }
    const pp_threads_wish wish = {.pc = pcs,
                                  .depth = (uint32_t)pp_callers_uncut(0, pcs, PPROF_MAX_STACK),
                                  .alone = !__atomic_load_n(&may_look, __ATOMIC_RELAXED),
                                  .with_stacks = true};
    int error = pp_threads_snapshot(&wish, arena, &stacks->threads);
    unsigned all = pp_tasks_count();
    size_t rows = stacks->threads.count > 0 ? stacks->threads.count : 1;
    stacks->unseen = all > rows ? (uint32_t)(all - rows) : 0;
    if (error != 0) {
        return error == -ENOMEM ? error : 0;
    }
    return hide_rests(stacks, memory, arena);
}

int pp_leak_stacks_read_moved(const pp_leak_stacks *stacks, pp_leak_memory *memory,
                              pp_leak_visit *visit, void *context)
{
    int error = 0;
    for (size_t i = 0; i < stacks->rest_count && error == 0; i++) {
        const pp_leak_rest *rest = &stacks->rests[i];
        if (pp_task_cpu_ns(rest->tid) != rest->clock_ns) {
            error = pp_leak_memory_read_span(memory, &rest->below, visit, context);
        }
    }
    return error;
}

void pp_leak_stacks_release(pp_leak_stacks *stacks)
{
    pp_threads_release(&stacks->threads);
    stacks->threads.count = 0;
}
