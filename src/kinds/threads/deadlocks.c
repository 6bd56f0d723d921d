/* SPDX-License-Identifier: MIT
 *
 * deadlocks.c: writes the threads that do not go on, each with its stack, and then the others.
 *
 * Zone: NORMAL.
 * Tested by: e2e.deadlocks
 */
#include "kinds/threads/deadlocks.h"

#include "kinds/threads/row_waits.h"
#include "kinds/threads/thread_control.h"
#include "kinds/threads/thread_dump.h"
#include "output/symbolize.h"
#include "profile/mappings.h"

#include <errno.h>

typedef struct text {
    pp_threads threads;
    pp_lock_waits found;
    pp_profile profile; /* has the mappings */
    pp_arena *arena;
    pprof_writer writer;
    bool begun; /* something is written */
    int error;  /* the first */
} text;

/* Which waits belong together. */
typedef bool membership(const pp_lock_wait *wait, size_t number);

static bool is_in_circle(const pp_lock_wait *wait, size_t number)
{
    return wait->lock != NULL && wait->circle == number;
}

static bool is_lost(const pp_lock_wait *wait, size_t number)
{
    (void)number;
    return wait->lock != NULL && wait->holder_ended;
}

static bool is_other(const pp_lock_wait *wait, size_t number)
{
    return is_in_circle(wait, number) && !wait->holder_ended;
}

static size_t count_waits(const text *t, membership *belongs, size_t number)
{
    size_t count = 0;
    for (size_t i = 0; i < t->found.count; i++) {
        count += belongs(&t->found.waits[i], number);
    }
    return count;
}

static void note(text *t, int error)
{
    t->error = t->error != 0 ? t->error : error;
}

/* Begins a piece of the text: an empty line stands before it, if it is not the first. */
static void begin_piece(text *t, pp_text_stream *out)
{
    pp_text_stream_init(out, t->writer);
    pp_text_stream_add(out, t->begun ? "\n" : "");
    t->begun = true;
}

/* Writes a title, and a line of each thread. */
static void write_list(text *t, const char *one, const char *many, membership *belongs)
{
    size_t count = count_waits(t, belongs, 0);
    pp_text_stream out;
    if (count == 0 || t->error != 0) {
        return;
    }
    begin_piece(t, &out);
    pp_text_stream_add(&out, count == 1 ? one : many);
    for (size_t i = 0; i < t->found.count; i++) {
        if (belongs(&t->found.waits[i], 0)) {
            pp_text_stream_add(&out, "\t");
            pp_lock_waits_write_thread(&t->found, i, &out);
        }
    }
    note(t, pp_text_stream_finish(&out));
}

/* Writes the stacks of some threads. */
static void write_stacks(text *t, membership *belongs, size_t number)
{
    size_t count = 0;
    pp_thread_row *rows = pp_arena_array(t->arena, t->found.count, sizeof *rows);
    pp_lock_wait *waits = pp_arena_array(t->arena, t->found.count, sizeof *waits);
    if (rows == NULL || waits == NULL) {
        note(t, -ENOMEM);
    }
    for (size_t i = 0; t->error == 0 && i < t->found.count; i++) {
        if (belongs(&t->found.waits[i], number)) {
            waits[count] = t->found.waits[i];
            rows[count++] = t->threads.rows[i];
        }
    }
    if (t->error != 0 || count == 0) {
        return;
    }
    const pp_thread_dump dump = {.rows = rows,
                                 .waits = waits,
                                 .count = count,
                                 .symbolize = pp_symbolize_wanted(),
                                 .mappings = &t->profile};
    note(t, t->writer.write(t->writer.ctx, "\n", 1));
    if (t->error == 0) {
        note(t, pp_thread_dump_write(&dump, t->arena, t->writer));
    }
}

static void write_circle(text *t, size_t number)
{
    pp_text_stream out;
    begin_piece(t, &out);
    pp_lock_waits_write_circle(&t->found, number, &out);
    note(t, pp_text_stream_finish(&out));
    write_stacks(t, is_in_circle, number);
}

static void write_none(text *t)
{
    pp_text_stream out;
    begin_piece(t, &out);
    pp_text_stream_add(&out, "no deadlock\n");
    note(t, pp_text_stream_finish(&out));
}

static void write_found(text *t)
{
    for (size_t number = 1; t->error == 0 && number <= t->found.circles; number++) {
        write_circle(t, number);
    }
    if (t->found.circles == 0 && count_waits(t, is_lost, 0) == 0) {
        write_none(t);
    }
    write_list(t, "lost: a thread waits for a lock whose holder has ended\n",
               "lost: threads wait for locks whose holders have ended\n", is_lost);
    write_stacks(t, is_lost, 0);
    write_list(t, "waiting: a thread waits for a lock\n", "waiting: threads wait for locks\n",
               is_other);
}

static int take_snapshot(text *t)
{
    int error = pp_thread_control_snapshot(true, true, t->arena, &t->threads);
    if (error == 0) {
        error = pp_profile_add_all_mappings(t->arena, &t->profile);
    }
    return error == 0 ? pp_row_waits_find(&t->profile, &t->threads, t->arena, &t->found) : error;
}

int pp_deadlocks_write(pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    text t = {.profile = {.symbolize = PP_SYMBOLIZE_NAMES}, .arena = &arena, .writer = writer};
    t.error = take_snapshot(&t);
    if (t.error == 0) {
        write_found(&t);
    }
    pp_threads_release(&t.threads);
    pp_arena_release(&arena);
    return t.error;
}
