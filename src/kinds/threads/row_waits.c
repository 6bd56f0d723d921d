/* SPDX-License-Identifier: MIT
 *
 * row_waits.c: gives the rows to lock_waits.c, and answers its questions by the threads' clocks.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.deadlocks
 */
#include "kinds/threads/row_waits.h"

#include "sys/tasks.h"

#include <errno.h>

/* A thread's clock stands still while the thread waits. */
static bool has_stayed(size_t index, void *context)
{
    const pp_thread_row *row = &((const pp_threads *)context)->rows[index];
    return row->clock_ns >= 0 && pp_task_cpu_ns(row->tid) == row->clock_ns;
}

static bool lives(int tid)
{
    return pp_task_cpu_ns(tid) >= 0;
}

int pp_row_waits_find(const pp_profile *profile, const pp_threads *threads, pp_arena *arena,
                      pp_lock_waits *found)
{
    pp_lock_thread *list = pp_arena_array(arena, threads->count, sizeof *list);
    for (size_t i = 0; list != NULL && i < threads->count; i++) {
        const pp_thread_row *row = &threads->rows[i];
        list[i] = (pp_lock_thread){
            .tid = row->tid,
            .name = row->name,
            .place = row->state == PP_THREAD_WAITS_IN_CALL ? &row->place : NULL,
            .pc = row->pc,
            .depth = row->depth,
        };
    }
    const pp_lock_questions questions = {
        .has_stayed = has_stayed, .lives = lives, .context = (void *)(uintptr_t)threads};
    return list != NULL
               ? pp_lock_waits_find(profile, list, threads->count, &questions, arena, found)
               : -ENOMEM;
}
