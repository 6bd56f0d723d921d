/* SPDX-License-Identifier: MIT
 *
 * wall_kind.c: the kind "wall": where time passes, for every thread, running or waiting.
 *
 *   start --> [runs: its file is wanted] --> write, stop: it is written, and leaves
 *                 |
 *                write so far --> [left for it] --> resume: it joins again
 *
 * Zone: NORMAL.
 * Locks: those of kind.h and wall.h; that of the program's own profile, before `turn` (wall.h).
 * Owns: the file, and its collection; the profile that the program has started.
 * Tested by: e2e.wall, e2e.wall_api, e2e.http_wall, unit.options
 */
#include "base/buffer.h"
#include "encode/proto.h"
#include "host/dispositions.h"
#include "host/kind.h"
#include "kinds/cpu/thread_label.h"
#include "kinds/cpu/wall.h"
#include "kinds/cpu/wall_profile.h"
#include "output/end_file.h"
#include "output/prepare.h"
#include "output/symbolize.h"
#include "output/word_values.h"
#include "profile/delta.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "sys/sandbox.h"
#include "sys/tasks.h"

#include "pprof.h"

#include <errno.h>
#include <pthread.h>

/* ---- a collection ---- */

typedef struct collection {
    pp_arena *arena;
    bool with_labels;
    bool with_thread; /* the label `thread` */
    bool fatal;       /* it ends in the handler of a fatal signal */
    pp_profile before;
    int64_t time_ns;   /* wall clock; 0: all that was counted so far */
    uint64_t start_ns; /* monotonic */
    pp_buffer encoded; /* while it ends */
} collection;

static int keep_before(const pp_wall_counts *counts, void *context)
{
    collection *c = context;
    c->start_ns = counts->now_ns;
    if (counts->is_first) { /* nothing, whatever has struck in the moment since */
        c->time_ns = 0;
    }
    return c->time_ns != 0 ? pp_wall_profile_build(counts, c->with_labels, c->arena, &c->before)
                           : 0;
}

/* Encodes into memory: the turn is held, and the writer may be slow. */
static int encode(const pp_wall_counts *counts, void *context)
{
    collection *c = context;
    pp_profile profile;
    int error = pp_wall_profile_build(counts, c->with_labels, c->arena, &profile);
    if (error == 0) {
        error = pp_profile_subtract(&profile, &c->before, c->arena);
    }
    if (error == 0) {
        error = pp_wall_profile_count(c->arena, &profile);
    }
    bool is_so_far = c->time_ns == 0;
    profile.time_ns = is_so_far ? counts->time_ns : c->time_ns;
    profile.duration_ns = (int64_t)(counts->now_ns - (is_so_far ? counts->start_ns : c->start_ns));
    profile.symbolize = pp_symbolize_wanted();
    return error != 0 ? error : pp_proto_encode_into(&profile, c->arena, &c->encoded);
}

static void leave_thread_label(collection *c)
{
    if (c->with_thread) {
        pp_thread_label_unwant();
        c->with_thread = false;
    }
}

/* `is_so_far`: it has what was counted before, too. A program with a filter may not be asked for names (prctl). */
static int begin_collection(collection *c, int hz, pp_timed_labels labels, bool is_so_far,
                            pp_arena *arena)
{
    *c = (collection){.arena = arena,
                      .with_labels = labels != PP_TIMED_NO_LABELS,
                      .with_thread = labels == PP_TIMED_THREAD_LABEL && !pp_sandbox_has_filter(),
                      .time_ns = is_so_far ? 0 : (int64_t)pp_clock_ns(CLOCK_REALTIME),
                      .encoded = PP_BUFFER_INIT};
    if (c->with_thread) {
        pp_thread_label_want();
    }
    int error = pp_wall_join(hz, keep_before, c);
    if (error != 0) {
        leave_thread_label(c);
    }
    return error;
}

static int write_encoded(collection *c, int error, pprof_writer writer)
{
    if (error == 0) {
        error = writer.write(writer.ctx, c->encoded.data, c->encoded.size);
    }
    pp_buffer_release(&c->encoded);
    return error;
}

static int end_collection(collection *c, pprof_writer writer)
{
    int error = pp_wall_leave(encode, c, c->fatal);
    leave_thread_label(c);
    return write_encoded(c, error, writer);
}

/* ---- requests ---- */

static const char *reason_of(int error)
{
    switch (error) {
    case -EPERM:
        return "the program has confined itself, or runs in a sandbox";
    case -EAGAIN:
        return "no timer or thread could be had";
    case -EINVAL:
        return "hz is not between 1 and 1000";
    case -EBUSY:
        return "another thread begins or ends such a profile";
    default:
        return "no memory";
    }
}

static int begin(int hz, pp_timed_labels labels, pp_arena *arena, void **started, const char **why)
{
    collection *c = pp_arena_alloc(arena, sizeof *c);
    int error = c != NULL ? begin_collection(c, hz, labels, false, arena) : -ENOMEM;
    *why = error != 0 ? reason_of(error) : NULL;
    *started = c;
    return error;
}

static int end(void *ended, pprof_writer writer)
{
    return end_collection(ended, writer);
}

static void cancel(void *cancelled)
{
    pp_wall_leave(NULL, NULL, false);
    leave_thread_label(cancelled);
}

static int write_so_far(pp_timed_labels labels, pp_arena *arena, pprof_writer writer)
{
    collection c = {
        .arena = arena, .with_labels = labels != PP_TIMED_NO_LABELS, .encoded = PP_BUFFER_INIT};
    return write_encoded(&c, pp_wall_so_far(encode, &c), writer);
}

typedef struct built {
    pp_arena *arena;
    pp_profile *profile;
} built;

static int build(const pp_wall_counts *counts, void *context)
{
    const built *b = context;
    int error = pp_wall_profile_build(counts, true, b->arena, b->profile);
    b->profile->time_ns = counts->time_ns;
    /* The last user may leave after the return. */
    return error != 0 ? error : pp_profile_copy_samples(b->profile, b->arena, b->profile);
}

static int build_so_far(pp_arena *arena, pp_profile *profile)
{
    built b = {arena, profile};
    return pp_wall_so_far(build, &b);
}

static const pp_timed_profile timed = {
    .name = "wall",
    .about = "Where time passes, running or waiting, in the next seconds=30.",
    .what = "wall-clock",
    .begin = begin,
    .end = end,
    .cancel = cancel,
    .write_so_far = write_so_far,
    .build_so_far = build_so_far,
    .complete = pp_wall_profile_count,
};

/* ---- the file ---- */

static int write_file(pprof_writer writer, int debug);

static pp_end_file files[] = {{.name = "wall", .write = write_file}, {.name = NULL}};

static struct {
    int hz; /* 0: as usual */
    bool with_thread;
    bool is_open;
    bool is_interrupted; /* write() has ended it, and resume() starts it again */
    pp_arena arena;
    collection collection;
} file = {.arena = PP_ARENA_INIT};

/* Of a collection whose arena is of nothing else. */
static int begin_with_arena(collection *c, int hz, bool is_so_far, pp_arena *arena)
{
    int error = begin_collection(c, hz, file.with_thread ? PP_TIMED_THREAD_LABEL : PP_TIMED_LABELS,
                                 is_so_far, arena);
    if (error != 0) {
        pp_arena_release(arena);
    }
    return error;
}

static int end_with_arena(collection *c, pprof_writer writer)
{
    int error = end_collection(c, writer);
    pp_arena_release(c->arena);
    return error;
}

static int write_file(pprof_writer writer, int debug)
{
    (void)debug;
    file.is_open = false;
    return end_with_arena(&file.collection, writer);
}

/* ---- the program's own ---- */

static struct {
    pp_lock lock;
    bool runs;
    pprof_writer writer;
    pp_arena arena;
    collection collection;
} own = {.arena = PP_ARENA_INIT};

static int start_own(pprof_writer writer, int hz)
{
    if (own.runs) {
        return -EBUSY;
    }
    int error = begin_with_arena(&own.collection, hz, false, &own.arena);
    own.runs = error == 0;
    own.writer = writer;
    return error;
}

static int stop_own(pprof_writer unused, int unused_hz)
{
    (void)unused;
    (void)unused_hz;
    if (!own.runs) {
        return 0;
    }
    own.runs = false;
    return end_with_arena(&own.collection, own.writer);
}

/* Cancellation is off, since a cancelled thread would keep the lock for ever. */
static int with_own(int (*what)(pprof_writer writer, int hz), pprof_writer writer, int hz)
{
    int self = pp_task_self();
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    if (pp_lock_held_by(&own.lock, self)) {
        return -EBUSY; /* the caller is the profile's writer, or a handler that interrupts one of us */
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_lock_take(&own.lock, self);
    int error = what(writer, hz);
    pp_lock_release(&own.lock);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

int pprof_start_wall_profile(pprof_writer writer, int hz)
{
    return writer.write != NULL ? with_own(start_own, writer, hz) : -EINVAL;
}

int pprof_stop_wall_profile(void)
{
    return with_own(stop_own, (pprof_writer){.write = NULL}, 0);
}

static int take_wall(const char *value)
{
    int64_t hz = 0;
    if (value != NULL && (!pp_word_number(value, &hz) || hz < 1 || hz > 1000)) {
        return -EINVAL;
    }
    files->asked = true;
    file.hz = (int)hz;
    return 0;
}

static int take_thread_label(const char *value)
{
    return pp_word_alone(value, &file.with_thread);
}

static const pp_word words[] = {
    {"wall", take_wall, "wall or wall:HZ, HZ from 1 to 1000"},
    {"thread-label", take_thread_label, "thread-label, without a value"},
    {.name = NULL}};

static void reset(void)
{
    file.hz = 0;
    file.with_thread = false;
}

/* A file of an interval has what is new. Any other has what `now=1` has, and its time: who collects that, and then the file,
 * knows that they are one (cpu=shared does the same). */
static int begin_file(bool is_so_far)
{
    pp_prepare_files();
    int error = begin_with_arena(&file.collection, file.hz, is_so_far, &file.arena);
    file.is_open = files->wanted = error == 0;
    if (error != 0) {
        pp_log_error("the wall-clock profile", " could not be started", error, NULL);
    } else {
        pp_hook_fatal_signals();
    }
    return error;
}

/* One that runs goes on: it was asked for again. */
static int start(uint64_t duration_ns)
{
    (void)duration_ns; /* the end of the duration has the file written */
    return files->asked && !file.is_open ? begin_file(true) : 0;
}

static void write_files(bool so_far, const void *interrupted)
{
    bool was_wanted = files->wanted;
    file.collection.fatal = interrupted != NULL;
    pp_end_files_write(files, so_far, interrupted != NULL);
    file.is_interrupted |= was_wanted && so_far;
    files->wanted = false;
    if (file.is_open) { /* there is no place for the file */
        file.is_open = false;
        pp_wall_leave(NULL, NULL, interrupted != NULL);
        leave_thread_label(&file.collection);
        pp_arena_release(&file.arena);
    }
}

static void resume(uint64_t duration_ns)
{
    (void)duration_ns;
    if (file.is_interrupted) {
        file.is_interrupted = false;
        begin_file(false);
    }
}

static void stop(bool confined)
{
    if (confined) {
        pp_wall_confine();
    }
}

static void after_fork(bool goes_on)
{
    pp_wall_after_fork_in_child();
    file.is_open = own.runs = false;
    pp_arena_release(&file.arena);
    pp_arena_release(&own.arena);
    pp_lock_release(&own.lock);
    if (files->wanted) {
        files->wanted = false;
        if (goes_on) {
            begin_file(true);
        }
    }
}

const pp_kind pp_kind_wall = {
    .name = "wall",
    .words = words,
    .files = files,
    .timed = &timed,
    .sampler = &pp_wall_sampler,
    .reset = reset,
    .start = start,
    .write = write_files,
    .stop = stop,
    .resume = resume,
    .after_fork = after_fork,
};
