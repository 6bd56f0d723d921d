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

#include "remote/locks.h"
#include "remote/target.h"
#include "remote/threads.h"

#include "base/quoted.h"
#include "encode/proto.h"
#include "encode/text_stream.h"
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
    pp_remote_wait *waits;
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

/* mutex 0x7f... held by thread 4711 "worker" */
static int wait_words(const pp_remote_wait *wait, char *to, size_t size)
{
    if (wait->lock[0] == 'e') {
        return snprintf(to, size, "the end of thread %d \"%s\"", wait->holder,
                        wait->holder_thread->name);
    }
    int length = snprintf(to, size, "%s %#lx", wait->lock, (unsigned long)wait->address);
    char *rest = to + length;
    size_t left = size - (size_t)length;
    if (wait->holder_thread != NULL) {
        return snprintf(rest, left, " held by thread %d \"%s\"", wait->holder,
                        wait->holder_thread->name);
    }
    if (wait->holder != 0) {
        return snprintf(rest, left, " held by thread %d, which has ended", wait->holder);
    }
    return snprintf(rest, left, wait->lock[0] == 'r' ? " held by readers" : " held by nobody");
}

static const char *state_text(dump *d, size_t i)
{
    const pp_remote_thread *t = &d->threads.thread[i];
    char words[128];
    char text[192];
    if (d->waits[i].lock == NULL) {
        return state_word(t);
    }
    wait_words(&d->waits[i], words, sizeof words);
    int length = snprintf(text, sizeof text, "%s, %s", state_word(t), words);
    const char *kept = pp_arena_text(&d->arena, text, (size_t)length);
    return kept != NULL ? kept : state_word(t);
}

/* ---- the text ---- */

static void write_circle(dump *d, size_t number, pp_text_stream *out)
{
    size_t members = 0;
    for (size_t i = 0; i < d->threads.count; i++) {
        members += d->waits[i].circle == number;
    }
    pp_text_stream_add(out, "\ndeadlock: ");
    if (members == 1) {
        pp_text_stream_add(out, "a thread waits for itself\n");
    } else {
        pp_text_stream_unsigned(out, members);
        pp_text_stream_add(out, " threads wait for each other\n");
    }
    for (size_t i = 0; i < d->threads.count; i++) {
        char words[128];
        if (d->waits[i].circle != number) {
            continue;
        }
        wait_words(&d->waits[i], words, sizeof words);
        pp_text_stream_add(out, "\tthread ");
        pp_text_stream_number(out, d->threads.thread[i].tid);
        pp_text_stream_add(out, " ");
        pp_text_stream_quoted(out, d->threads.thread[i].name);
        pp_text_stream_add(out, " waits for ");
        pp_text_stream_add(out, words);
        pp_text_stream_add(out, "\n");
    }
}

static int write_text(dump *d, size_t circles, pprof_writer writer)
{
    size_t count = d->threads.count;
    pp_thread_text *texts = pp_arena_array(&d->arena, count, sizeof *texts);
    if (texts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const pp_remote_thread *t = &d->threads.thread[i];
        texts[i] = (pp_thread_text){.tid = t->tid,
                                    .name = t->name,
                                    .state = state_text(d, i),
                                    .pc = t->pc,
                                    .depth = t->depth};
    }
    int error = pp_thread_text_encode(&d->profile, texts, count, &d->arena, writer);
    if (error != 0 || circles == 0) {
        return error;
    }
    pp_text_stream out;
    pp_text_stream_init(&out, writer);
    for (size_t number = 1; number <= circles; number++) {
        write_circle(d, number, &out);
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
    for (size_t i = 0; i < d->threads.count; i++) {
        result->not_whole += !d->threads.thread[i].whole;
        result->not_seen += d->threads.thread[i].refused;
    }
}

static int look_and_write(dump *d, const pp_remote_wish *wish, pprof_writer writer,
                          pp_remote_result *result, pp_remote_error *error)
{
    if (pp_target_read_objects(&d->arena, &d->profile, error) != 0 ||
        pp_remote_threads_read(&d->arena, &d->threads, error) != 0) {
        return -1;
    }
    int status = pp_remote_waits_find(&d->profile, &d->threads, &d->arena, &d->waits);
    if (status == 0) {
        result->deadlocks = pp_remote_circles_find(&d->threads, d->waits);
        count(d, result);
        status =
            wish->as_profile ? write_profile(d, writer) : write_text(d, result->deadlocks, writer);
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
