/* SPDX-License-Identifier: MIT
 *
 * thread_records.c: the public functions that show threads as records or as text
 * [runtime.GoroutineProfile, ThreadCreateProfile, Stack].
 *
 * Zone: NORMAL.
 * Tested by: e2e.thread_profile, e2e.tail_calls
 */
#include "pprof.h"

#include "modules/modules.h"
#include "sys/sanitizers.h"
#include "kinds/threads/thread_control.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* ---- records ---- */

static void fill_stack(pprof_stack *stack, const uintptr_t *pcs, uint32_t depth)
{
    memset(stack, 0, sizeof *stack);
    stack->depth = depth < PPROF_MAX_STACK ? depth : PPROF_MAX_STACK;
    if (stack->depth > 0) {
        memcpy(stack->pc, pcs, stack->depth * sizeof *pcs);
    }
}

static void fill_record(pprof_thread_record *record, const pp_thread_row *row, bool creation)
{
    pp_thread_origin origin = pp_thread_control_origin(row);
    record->tid = row->tid;
    if (creation) {
        record->labels = NULL;
        fill_stack(&record->stack, origin.pc, origin.depth);
    } else {
        record->labels = pp_labels_ref(row->labels);
        fill_stack(&record->stack, row->pc, row->depth);
    }
}

static void fill_record_of_task(pprof_thread_record *record, const pp_coroutine_row *row)
{
    record->tid = 0;
    record->labels = pp_labels_ref(row->labels);
    fill_stack(&record->stack, row->pc, row->depth);
}

static size_t count_of(bool creation)
{
    return creation ? pp_thread_control_count() : pp_thread_control_count_all();
}

/* Counts the threads first, which is cheap. Their stacks are walked only if the records may fit. */
static bool read_records(bool creation, pprof_thread_record *records, size_t capacity, size_t *n)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_threads threads = {.count = 0};
    pp_coroutines tasks = {.count = 0};
    size_t count = count_of(creation);
    bool fits = capacity >= count && records != NULL;
    if (fits) {
        fits = pp_thread_control_snapshot(!creation, false, &arena, &threads) == 0 &&
               (creation || pp_thread_control_coroutines(false, &arena, &tasks) == 0);
        count = threads.count + tasks.count;
    }
    fits = fits && capacity >= count;
    if (fits) {
        pp_sanitizers_write(records, count * sizeof *records);
    }
    for (size_t i = 0; fits && i < threads.count; i++) {
        fill_record(&records[i], &threads.rows[i], creation);
    }
    for (size_t i = 0; fits && i < tasks.count; i++) {
        fill_record_of_task(&records[threads.count + i], &tasks.rows[i]);
    }
    if (n != NULL) {
        *n = count;
    }
    pp_threads_release(&threads);
    pp_coroutines_release(&tasks);
    pp_arena_release(&arena);
    return fits;
}

static bool read_prepared(bool creation, pprof_thread_record *records, size_t capacity, size_t *n)
{
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_modules_refresh();
    bool fits = read_records(creation, records, capacity, n);
    pthread_setcancelstate(cancel_state, NULL);
    return fits;
}

bool pprof_thread_profile(pprof_thread_record *records, size_t capacity, size_t *n)
{
    return read_prepared(false, records, capacity, n);
}

bool pprof_threadcreate_profile(pprof_thread_record *records, size_t capacity, size_t *n)
{
    return read_prepared(true, records, capacity, n);
}

void pprof_thread_records_release(pprof_thread_record *records, size_t n)
{
    for (size_t i = 0; records != NULL && i < n; i++) {
        /* The record's pointer is const for the program; it is a reference of fill_record(). */
        pp_labels_unref((pprof_labels *)(uintptr_t)records[i].labels);
        records[i].labels = NULL;
    }
}

/* ---- text ---- */

typedef struct room {
    char *at;
    size_t capacity, used;
} room;

/* Copies what fits. The error ends the writing once something does not fit. */
static int write_to_room(void *ctx, const void *data, size_t length)
{
    room *r = ctx;
    size_t left = r->capacity - r->used;
    size_t part = length < left ? length : left;
    pp_sanitizers_write(r->at + r->used, part);
    memcpy(r->at + r->used, data, part);
    r->used += part;
    return part == length ? 0 : -ENOSPC;
}

size_t pprof_stack_text(char *buffer, size_t capacity, bool all)
{
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    room r = {buffer, buffer != NULL ? capacity : 0, 0};
    if (r.capacity == 0) {
        return 0;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_modules_refresh();
    pp_thread_control_dump(all, (pprof_writer){write_to_room, &r});
    pthread_setcancelstate(cancel_state, NULL);
    if (r.used < capacity) {
        buffer[r.used] = '\0';
    }
    return r.used;
}
