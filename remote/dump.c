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
#include "symbol/dwarf_lines.h"
#include "unwind/explain.h"
#include "unwind/stops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct dump {
    pp_target target;
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

/* ---- why a stack is not whole ---- */

static const pp_mapping *mapping_of(const pp_profile *profile, uintptr_t address)
{
    for (size_t i = 0; i < profile->mapping_count; i++) {
        const pp_mapping *m = &profile->mappings[i];
        if (address >= m->start && address < m->limit) {
            return m;
        }
    }
    return NULL;
}

/* "0x1234 in /usr/lib/libx.so", by which readelf finds the instruction; or its address. */
static void add_place(const pp_mapping *m, uintptr_t address, pp_text *text)
{
    bool in_file = m != NULL && m->path[0] != '\0';
    pp_explain_address(address - (in_file ? m->bias : 0), text);
    pp_text_add(text, in_file     ? " in "
                      : m != NULL ? " in code that no file holds"
                                  : " in no code that is mapped");
    pp_text_add(text, in_file ? m->path : "");
}

static void add_register(unsigned reg, uintptr_t value, pp_text *text)
{
    pp_text_add(text, reg == PP_REG_SP ? " " : ", ");
    pp_text_add(text, pp_register_name(reg));
    if (value == 0) {
        pp_text_add(text, " not known");
    } else {
        pp_text_add(text, " ");
        pp_explain_address(value, text);
    }
}

/* Three lines: the reason; the place; the rule and the registers that it is about. NULL if the
 * stack is whole, or none was taken. */
static const char *explain(dump *d, const pp_remote_thread *t, pp_walk_space *space)
{
    pp_text text = PP_TEXT_INIT;
    const pp_last_frame *last = &t->last;
    if (t->whole || t->depth == 0) {
        return NULL;
    }
    const pp_mapping *m = mapping_of(&d->profile, last->pc - 1);
    pp_text_add(&text, "stack ends early: ");
    pp_text_add(&text, pp_reason_text(t->why));
    pp_text_add(&text, "\n\tat ");
    add_place(m, last->pc - 1, &text);
    pp_text_add(&text, "\n\t");
    size_t before = text.length;
    pp_explain_rule(&d->target.walked, last->pc, m != NULL ? m->bias : 0, space, &text);
    pp_text_add(&text, text.length > before ? "\n\tregisters there:" : "registers there:");
    add_register(PP_REG_SP, last->sp, &text);
    add_register(PP_REG_FP, last->fp, &text);
    add_register(PP_REG_BX, last->bx, &text);
    pp_text_add(&text, "\n");
    return pp_arena_text(&d->arena, text.data, text.length);
}

/* The explanations of all threads; NULL if none are wanted, or there is no memory for them. */
static const char **explain_all(dump *d, const pp_remote_wish *wish)
{
    size_t count = d->threads.count;
    const char **notes = wish->explain ? pp_arena_array(&d->arena, count, sizeof *notes) : NULL;
    pp_walk_space *space = notes != NULL ? pp_arena_alloc(&d->arena, sizeof *space) : NULL;
    for (size_t i = 0; space != NULL && i < count; i++) {
        notes[i] = explain(d, &d->threads.thread[i], space);
    }
    return space != NULL ? notes : NULL;
}

/* ---- the text ---- */

static int write_text(dump *d, const char *const *notes, pprof_writer writer)
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
                             .note = notes != NULL ? notes[i] : NULL,
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

/* "libpprof: thread 4711 "worker": stack ends early: ...", with its lines in one. */
static const char *comment_of(dump *d, const pp_remote_thread *t, const char *note)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "libpprof: thread ");
    pp_text_add_number(&text, (uint64_t)t->tid);
    pp_text_add(&text, ": ");
    pp_text_add(&text, note);
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '\n' && text.data[i + 1] == '\t') {
            text.data[i] = ',';
            text.data[i + 1] = ' ';
        }
    }
    return pp_arena_text(&d->arena, text.data, text.length - (text.data[text.length - 1] == '\n'));
}

static int add_comments(dump *d, const char *const *notes)
{
    const char **list = pp_arena_array(&d->arena, d->threads.count, sizeof *list);
    if (list == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < d->threads.count; i++) {
        if (notes[i] != NULL) {
            list[d->profile.comment_count++] = comment_of(d, &d->threads.thread[i], notes[i]);
        }
    }
    d->profile.comments = list;
    return 0;
}

static int write_profile(dump *d, const char *const *notes, pprof_writer writer)
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
    if (notes != NULL && add_comments(d, notes) != 0) {
        return -ENOMEM;
    }
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
    const pp_lock_questions none = {.memory = &d->target.walked.memory};
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
    if (pp_target_read_objects(&d->target, &d->arena, &d->profile, error) != 0 ||
        pp_remote_threads_read(&d->target, &d->arena, &d->threads, error) != 0) {
        return -1;
    }
    int status = find_waits(d);
    if (status == 0) {
        const char **notes = explain_all(d, wish);
        count(d, result);
        status = wish->as_profile ? write_profile(d, notes, writer) : write_text(d, notes, writer);
    }
    return status == 0 ? 0
                       : pp_remote_fail(error, "the threads of process %d cannot be written: %s",
                                        wish->pid, strerror(-status));
}

/* ---- lines ---- */

static struct {
    const pprof_dwarf_interface *plugin;
    int error;
} lines_of_dump;

static bool may_have_lines(void)
{
    return lines_of_dump.plugin != NULL;
}

static bool find_lines(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                       pp_lines *lines, pp_arena *arena)
{
    bool whole = false;
    int error =
        pp_dwarf_lines_find(lines_of_dump.plugin, mapping, addresses, count, lines, arena, &whole);
    if (error == -EFBIG || error == -ENOMEM) {
        lines_of_dump.error = error;
    }
    return whole;
}

int pp_remote_dump(const pp_remote_wish *wish, pprof_writer writer, pp_remote_result *result,
                   pp_remote_error *error)
{
    dump d = {.arena = PP_ARENA_INIT, .profile = {.symbolize = PP_SYMBOLIZE_LINES}};
    *result = (pp_remote_result){0};
    if (pp_target_open(&d.target, wish->pid, error) != 0) {
        return -1;
    }
    static const pp_lines_source source = {.begin = may_have_lines, .find = find_lines};
    lines_of_dump.plugin = wish->lines;
    lines_of_dump.error = 0;
    pp_lines_set_source(&source);
    int status = look_and_write(&d, wish, writer, result, error);
    result->lines_error = lines_of_dump.error;
    pp_target_close(&d.target);
    pp_arena_release(&d.arena);
    return status;
}
