/* SPDX-License-Identifier: MIT
 *
 * dump.c: opens the target, looks at its threads, and writes them.
 *
 *   target -> objects -> threads -> locks -> text, as thread profiles have it with debug=2
 *                                        \-> profile.proto of kind `thread`
 *
 * Tested by: e2e.cpprof_dump
 */
#include "remote/dump.h"

#include "remote/target.h"
#include "remote/threads.h"

#include "encode/proto.h"
#include "encode/text_stream.h"
#include "kinds/threads/lock_waits.h"
#include "kinds/threads/thread_text.h"
#include "output/line_plugin.h"
#include "unwind/rule_cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct dump {
    pp_arena arena;
    pp_profile profile;
    pp_remote_threads threads;
    pp_lock_waits waits;
} dump;

/* ---- words ---- */

static const char *state_word(const pp_remote_thread *t)
{
    const char *call = t->place.call >= 0 ? pp_task_call_name(t->place.call) : NULL;
    switch (t->state) {
    case PP_REMOTE_RUNS:
        return t->refused ? "running, not seen" : "running";
    case PP_REMOTE_WAITS_DEEPLY:
        return "uninterruptible";
    case PP_REMOTE_IS_STOPPED:
        return "stopped";
    default:
        return call != NULL ? call : t->place.call >= 0 ? "system call" : "waiting";
    }
}

/* ---- the text ---- */

static int write_text(dump *d, pprof_writer writer)
{
    size_t count = d->threads.count;
    pp_thread_text *texts = pp_arena_array(&d->arena, count, sizeof *texts);
    if (texts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const pp_remote_thread *t = &d->threads.thread[i];
        texts[i] =
            (pp_thread_text){.tid = t->tid,
                             .name = t->name,
                             .state = state_word(t),
                             .pc = t->pc,
                             .depth = t->depth,
                             .wait = d->waits.waits[i].lock != NULL ? &d->waits.waits[i] : NULL};
    }
    int error = pp_thread_text_encode(&d->profile, texts, count, &d->arena, writer);
    if (error != 0 || d->waits.circles == 0) {
        return error;
    }
    pp_text_stream out;
    pp_text_stream_init(&out, writer);
    for (size_t number = 1; number <= d->waits.circles; number++) {
        pp_text_stream_add(&out, "\n");
        pp_lock_waits_write_circle(&d->waits, number, &out);
    }
    return pp_text_stream_finish(&out);
}

/* ---- the profile ---- */

static int write_profile(dump *d, pprof_writer writer)
{
    struct timespec now;
    pp_profile *p = &d->profile;
    pp_profile_sample *samples = pp_arena_array(&d->arena, d->threads.count, sizeof *samples);
    pp_sample_label *labels = pp_arena_array(&d->arena, d->threads.count * 2, sizeof *labels);
    if (samples == NULL || labels == NULL) {
        return -ENOMEM;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    p->sample_type_count = 1;
    p->sample_type[0] = p->period_type = (pp_value_type){"thread", "count"};
    p->period = 1;
    p->time_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    for (size_t i = 0; i < d->threads.count; i++) {
        const pp_remote_thread *t = &d->threads.thread[i];
        labels[2 * i] = (pp_sample_label){.key = "state", .text = state_word(t)};
        labels[2 * i + 1] = (pp_sample_label){.key = "thread", .text = t->name};
        samples[i] = (pp_profile_sample){.pc = t->pc,
                                         .depth = t->depth,
                                         .label_count = 2,
                                         .labels = &labels[2 * i],
                                         .value = {1}};
    }
    p->samples = samples;
    p->sample_count = d->threads.count;
    return pp_proto_encode(p, &d->arena, writer);
}

/* ---- all ---- */

static void count(const dump *d, pp_remote_result *result)
{
    result->threads = d->threads.count;
    result->deadlocks = d->waits.circles;
    for (size_t i = 0; i < d->threads.count; i++) {
        result->not_whole += !d->threads.thread[i].whole;
        result->not_seen += d->threads.thread[i].refused;
    }
}

static int find_waits(dump *d)
{
    static const pp_lock_questions none = {.has_stayed = NULL};
    size_t threads = d->threads.count;
    pp_lock_thread *list = pp_arena_array(&d->arena, threads, sizeof *list);
    for (size_t i = 0; list != NULL && i < threads; i++) {
        const pp_remote_thread *t = &d->threads.thread[i];
        list[i] = (pp_lock_thread){.tid = t->tid,
                                   .name = t->name,
                                   .place = t->state == PP_REMOTE_WAITS ? &t->place : NULL,
                                   .pc = t->pc,
                                   .depth = t->depth};
    }
    return list != NULL
               ? pp_lock_waits_find(&d->profile, list, threads, &none, &d->arena, &d->waits)
               : -ENOMEM;
}

static int look_and_write(dump *d, const pp_remote_wish *wish, pprof_writer writer,
                          pp_remote_result *result, pp_remote_error *error)
{
    if (pp_target_read_objects(&d->arena, &d->profile, error) != 0 ||
        pp_remote_threads_read(&d->arena, &d->threads, error) != 0) {
        return -1;
    }
    int status = find_waits(d);
    if (status == 0) {
        count(d, result);
        status = wish->as_profile ? write_profile(d, writer) : write_text(d, writer);
    }
    return status == 0 ? 0
                       : pp_remote_fail(error, "the threads of process %d cannot be written: %s",
                                        wish->pid, strerror(-status));
}

int pp_remote_dump(const pp_remote_wish *wish, pprof_writer writer, pp_remote_result *result,
                   pp_remote_error *error)
{
    dump d = {.arena = PP_ARENA_INIT, .profile = {.symbolize = PP_SYMBOLIZE_LINES}};
    *result = (pp_remote_result){0};
    if (pp_target_open(wish->pid, error) != 0) {
        return -1;
    }
    pp_line_plugin_begin();
    int status = look_and_write(&d, wish, writer, result, error);
    pp_target_close();
    pp_arena_release(&d.arena);
    return status;
}
