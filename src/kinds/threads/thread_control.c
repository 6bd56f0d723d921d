/* SPDX-License-Identifier: MIT
 *
 * thread_control.c: takes a snapshot of all threads, and of the tasks of the program's runtime, and
 * writes it in the form that was asked for.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the pseudo-frames of threads whose creation no hook saw.
 * Tested by: e2e.thread_profile, e2e.text_forms, e2e.stuck, e2e.tail_calls
 */
#include "kinds/threads/thread_control.h"

#include "base/pseudo_frame.h"
#include "kinds/threads/row_waits.h"
#include "kinds/threads/thread_dump.h"
#include "modules/code_query.h"
#include "output/count.h"
#include "output/symbolize.h"
#include "profile/count_profile.h"
#include "profile/mappings.h"
#include "sys/safe_read.h"
#include "sys/sandbox.h"
#include "sys/tasks.h"
#include "threads/coroutines.h"
#include "unwind/callers.h"
#include "unwind/explain.h"
#include "unwind/own_frames.h"
#include "unwind/scratch.h"
#include "unwind/walk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool confined;           /* nothing may be tried that has not worked before */
    const void *interrupted; /* in a fatal signal's handler: the ucontext_t; else NULL */
} state;

PP_PSEUDO_FRAME(pprof_first_thread)

PP_PSEUDO_FRAME(pprof_unseen_creation)

/* ---- snapshots ---- */

/* Whether other threads may be looked at. */
static bool may_look(void)
{
    if (state.interrupted != NULL) {
        return true;
    }
    pp_sandbox sandbox = state.confined ? PP_SANDBOX_REFUSES : pp_sandbox_probe();
    if (sandbox != PP_SANDBOX_NONE) {
        pp_safe_read_forbid_copy();
    }
    if (sandbox == PP_SANDBOX_REFUSES || !pp_sandbox_permits_questions()) {
        pp_code_query_forbid();
    }
    pp_code_query_permit();
    return sandbox != PP_SANDBOX_REFUSES;
}

enum { OWN_FRAMES = 12 /* at most so many are between the program's frame and this file's */ };

static bool is_entry(uintptr_t function)
{
    return function == (uintptr_t)pprof_profile_write || function == (uintptr_t)pprof_stack_text ||
           function == (uintptr_t)pprof_thread_profile;
}

/* Stores the return addresses of the calling thread, leaf-most first, and returns their number. The
 * first is in the function that called one of <pprof.h>, which is recognized. If there is no such call
 * (the process ends), the code that frames are in is recognized (unwind/own_frames.h). */
static uint32_t stack_of_caller(uintptr_t *pcs, size_t capacity)
{
    size_t depth = pp_callers_uncut(0, pcs, capacity);
    for (size_t i = 0; i < depth && i < OWN_FRAMES; i++) {
        if (is_entry(pp_function_of(pcs[i] - 1))) {
            depth -= i + 1;
            memmove(pcs, pcs + i + 1, depth * sizeof *pcs);
            break;
        }
    }
    return pp_own_frames_leave_out(pcs, (uint32_t)depth);
}

static uint32_t stack_at(const void *context, uintptr_t *pcs, size_t capacity)
{
    pp_walk_space space;
    pp_walk walk = {.pcs = pcs,
                    .space = &space,
                    .capacity = capacity < UINT32_MAX ? (uint32_t)capacity : UINT32_MAX};
    pp_walk_from_context(context, &walk);
    return walk.depth;
}

static uint32_t own_stack(uintptr_t *pcs, size_t capacity)
{
    return state.interrupted != NULL ? stack_at(state.interrupted, pcs, capacity)
                                     : stack_of_caller(pcs, capacity);
}

int pp_thread_control_snapshot(bool with_stacks, bool with_names, pp_arena *arena,
                               pp_threads *threads)
{
    uintptr_t *own = pp_arena_array(arena, PP_SCRATCH_DEPTH, sizeof *own);
    threads->count = 0;
    if (own == NULL) {
        return -ENOMEM;
    }
    pp_threads_wish wish = {.pc = own,
                            .depth = own_stack(own, PP_SCRATCH_DEPTH),
                            .alone = !may_look(),
                            .with_stacks = with_stacks,
                            .with_names = with_names,
                            .afresh = state.interrupted != NULL};
    return pp_threads_snapshot(&wish, arena, threads);
}

size_t pp_thread_control_count(void)
{
    return may_look() ? pp_threads_count() : 1;
}

int pp_thread_control_coroutines(bool with_names, pp_arena *arena, pp_coroutines *coroutines)
{
    const pp_coroutines_wish wish = {
        .with_names = with_names, .with_running = true, .hasty = state.interrupted != NULL};
    return pp_coroutines_snapshot(&wish, arena, coroutines);
}

size_t pp_thread_control_count_all(void)
{
    return pp_thread_control_count() + pp_coroutines_count();
}

/* ---- creations ---- */

pp_thread_origin pp_thread_control_origin(const pp_thread_row *row)
{
    static const uintptr_t first[] = {(uintptr_t)pprof_first_thread + 1};
    static const uintptr_t unseen[] = {(uintptr_t)pprof_unseen_creation + 1};
    if (row->creation != NULL) {
        return (pp_thread_origin){row->creation->pc, row->creation->depth};
    }
    return (pp_thread_origin){row->tid == pp_task_process() ? first : unseen, 1};
}

/* ---- writing ---- */

/* What is counted. The snapshots hold references. */
typedef struct counted {
    pp_threads threads;
    pp_coroutines coroutines;
    pp_count_row *rows;
    size_t count;
} counted;

static void fill_rows(bool creations, counted *c)
{
    for (size_t i = 0; i < c->threads.count; i++) {
        const pp_thread_row *row = &c->threads.rows[i];
        pp_thread_origin stack = {row->pc, row->depth};
        stack = creations ? pp_thread_control_origin(row) : stack;
        c->rows[c->count++] = (pp_count_row){.pc = stack.pc,
                                             .depth = stack.depth,
                                             .labels = creations ? NULL : row->labels,
                                             .count = 1};
    }
    for (size_t i = 0; i < c->coroutines.count; i++) {
        const pp_coroutine_row *row = &c->coroutines.rows[i];
        c->rows[c->count++] =
            (pp_count_row){.pc = row->pc, .depth = row->depth, .labels = row->labels, .count = 1};
    }
}

/* Takes the snapshots, which the caller releases, and makes rows of them. */
static int read_rows(bool creations, pp_arena *arena, counted *c)
{
    *c = (counted){.count = 0};
    int error = pp_thread_control_snapshot(!creations, false, arena, &c->threads);
    if (error == 0 && !creations) {
        error = pp_thread_control_coroutines(false, arena, &c->coroutines);
    }
    if (error == 0) {
        c->rows =
            pp_arena_array_filled(arena, c->threads.count + c->coroutines.count, sizeof *c->rows);
        error = c->rows == NULL ? -ENOMEM : 0;
    }
    if (error == 0) {
        fill_rows(creations, c);
    }
    return error;
}

static void release(counted *c)
{
    pp_threads_release(&c->threads);
    pp_coroutines_release(&c->coroutines);
}

static int write_rows(const char *name, bool creations, int debug, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    counted c;
    int error = read_rows(creations, &arena, &c);
    if (error == 0) {
        error = pp_count_write(name, c.rows, c.count, debug, writer);
    }
    release(&c);
    pp_arena_release(&arena);
    return error;
}

int pp_thread_control_build(const char *name, bool creations, pp_arena *arena, pp_profile *profile)
{
    counted c;
    int error = read_rows(creations, arena, &c);
    if (error == 0) {
        error = pp_count_profile_build(name, c.rows, c.count, true, arena, profile);
    }
    release(&c);
    return error;
}

static int dump_self(const pp_threads *threads, pp_arena *arena, pprof_writer writer)
{
    const pp_thread_dump dump = {
        .rows = threads->rows, .count = 1, .symbolize = pp_symbolize_wanted()};
    return pp_thread_dump_write(&dump, arena, writer);
}

static int write_circles(const pp_lock_waits *found, pprof_writer writer)
{
    pp_text_stream out;
    pp_text_stream_init(&out, writer);
    for (size_t number = 1; number <= found->circles; number++) {
        pp_text_stream_add(&out, "\n");
        pp_lock_waits_write_circle(found, number, &out);
    }
    return pp_text_stream_finish(&out);
}

/* Writes all stacks, and then the deadlocks. */
static int dump_all(const pp_threads *threads, const pp_coroutines *coroutines, pp_arena *arena,
                    pprof_writer writer)
{
    pp_profile profile = {.symbolize = PP_SYMBOLIZE_NAMES};
    pp_lock_waits found;
    int error = pp_profile_add_all_mappings(arena, &profile);
    if (error == 0) {
        error = pp_row_waits_find(&profile, threads, arena, &found);
    }
    if (error != 0) {
        return error;
    }
    const pp_thread_dump dump = {.rows = threads->rows,
                                 .waits = found.waits,
                                 .count = threads->count,
                                 .coroutines = coroutines,
                                 .symbolize = pp_symbolize_wanted(),
                                 .mappings = &profile};
    error = pp_thread_dump_write(&dump, arena, writer);
    return error == 0 ? write_circles(&found, writer) : error;
}

int pp_thread_control_dump(bool all, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_threads threads;
    pp_coroutines coroutines = {.count = 0};
    int error = pp_thread_control_snapshot(all, true, &arena, &threads);
    if (error == 0 && all) {
        error = pp_thread_control_coroutines(true, &arena, &coroutines);
    }
    if (error == 0) {
        error = all ? dump_all(&threads, &coroutines, &arena, writer)
                    : dump_self(&threads, &arena, writer);
    }
    pp_threads_release(&threads);
    pp_coroutines_release(&coroutines);
    pp_arena_release(&arena);
    return error;
}

int pp_thread_control_write(const char *name, pprof_writer writer, int debug)
{
    return debug >= 2 ? pp_thread_control_dump(true, writer)
                      : write_rows(name, false, debug, writer);
}

int pp_threadcreate_control_write(pprof_writer writer, int debug)
{
    return write_rows("threadcreate", true, debug, writer);
}

/* ---- moments ---- */

/* Probes now, since a later sandbox may forbid the probe. */
bool pp_thread_control_prepare(void)
{
    return may_look();
}

void pp_thread_control_interrupted(const void *context)
{
    state.interrupted = context;
}

void pp_thread_control_confine(void)
{
    state.confined = true;
}
