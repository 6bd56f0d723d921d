/* SPDX-License-Identifier: MIT
 *
 * cpu_share.c: joins the shared profile, and subtracts what was counted before.
 *
 * Zone: NORMAL.
 * Owns: nothing; a collection is in its caller's arena.
 * Tested by: e2e.http_cpu
 */
#include "kinds/cpu/cpu_share.h"

#include "base/buffer.h"
#include "encode/proto.h"
#include "kinds/cpu/cpu_control.h"
#include "kinds/cpu/cpu_profile.h"
#include "output/symbolize.h"
#include "profile/delta.h"
#include "sys/clock.h"

#include <errno.h>

typedef struct collection {
    pp_arena *arena;
    bool with_labels;
    bool is_first; /* of those who share: nothing was counted before */
    pp_profile before;
    int64_t time_ns;    /* wall clock */
    uint64_t start_ns;  /* monotonic */
    pp_buffer *encoded; /* while it ends */
} collection;

static const char *reason_of(int error)
{
    switch (error) {
    case -EBUSY:
        return "cpu profiling already in use";
    case -EPERM:
        return "the program has confined itself, or runs in a sandbox";
    case -EAGAIN:
        return "no timer could be armed (RLIMIT_SIGPENDING)";
    case -EINVAL:
        return "hz is not between 1 and 1000000";
    default:
        return "no memory";
    }
}

static int keep_before(const pp_cpu_result *result, void *context)
{
    collection *c = context;
    c->is_first = false;
    return pp_cpu_profile_build(result, c->with_labels, c->arena, &c->before);
}

static int begin(int hz, pp_timed_labels labels, pp_arena *arena, void **started, const char **why)
{
    collection *c = pp_arena_alloc(arena, sizeof *c);
    int error = -ENOMEM;
    if (c != NULL) {
        *c = (collection){
            .arena = arena, .with_labels = labels != PP_TIMED_NO_LABELS, .is_first = true};
        c->time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME);
        c->start_ns = pp_clock_ns(CLOCK_MONOTONIC);
        error = pp_cpu_control_join(hz, keep_before, c);
    }
    *why = error != 0 ? reason_of(error) : NULL;
    *started = c;
    return error;
}

/* Encodes into memory: the session lock is held, and the writer may be slow. */
static int encode(const pp_cpu_result *result, void *context)
{
    collection *c = context;
    pp_profile profile;
    int error = pp_cpu_profile_build(result, c->with_labels, c->arena, &profile);
    if (error == 0 && !c->is_first) {
        error = pp_profile_subtract(&profile, &c->before, c->arena);
    }
    profile.time_ns = c->time_ns;
    profile.duration_ns = (int64_t)(pp_clock_ns(CLOCK_MONOTONIC) - c->start_ns);
    profile.symbolize = pp_symbolize_wanted();
    return error != 0 ? error : pp_proto_encode_into(&profile, c->arena, c->encoded);
}

static int end(void *ended, pprof_writer writer)
{
    collection *c = ended;
    pp_buffer encoded = PP_BUFFER_INIT;
    c->encoded = &encoded;
    int error = pp_cpu_control_leave(encode, c);
    if (error == 0) {
        error = writer.write(writer.ctx, encoded.data, encoded.size);
    }
    pp_buffer_release(&encoded);
    return error;
}

static void cancel(void *cancelled)
{
    (void)cancelled;
    pp_cpu_control_leave(NULL, NULL);
}

/* ---- so far ---- */

typedef struct so_far {
    pp_arena *arena;
    bool with_labels;
    pp_buffer encoded;
} so_far;

/* The time and the duration are those of the sampler, so that readers know which of two such
 * profiles they may subtract. */
static int encode_so_far(const pp_cpu_result *result, void *context)
{
    so_far *s = context;
    pp_profile profile;
    int error = pp_cpu_profile_build(result, s->with_labels, s->arena, &profile);
    profile.symbolize = pp_symbolize_wanted();
    return error != 0 ? error : pp_proto_encode_into(&profile, s->arena, &s->encoded);
}

static int write_so_far(pp_timed_labels labels, pp_arena *arena, pprof_writer writer)
{
    so_far s = {
        .arena = arena, .with_labels = labels != PP_TIMED_NO_LABELS, .encoded = PP_BUFFER_INIT};
    int error = pp_cpu_control_look(encode_so_far, &s);
    if (error == 0) {
        error = writer.write(writer.ctx, s.encoded.data, s.encoded.size);
    }
    pp_buffer_release(&s.encoded);
    return error;
}

typedef struct built {
    pp_arena *arena;
    pp_profile *profile;
} built;

static int build(const pp_cpu_result *result, void *context)
{
    const built *b = context;
    int error = pp_cpu_profile_build(result, true, b->arena, b->profile);
    /* The sampler may stop after the return, and free its stacks. */
    return error != 0 ? error : pp_profile_copy_samples(b->profile, b->arena, b->profile);
}

static int build_so_far(pp_arena *arena, pp_profile *profile)
{
    built b = {arena, profile};
    return pp_cpu_control_look(build, &b);
}

const pp_timed_profile pp_cpu_timed_profile = {
    .name = "profile",
    .about = "Where CPU time goes, in the next seconds=30. hz= is the number of samples a second.",
    .what = "CPU",
    .ignores_debug = true,
    .begin = begin,
    .end = end,
    .cancel = cancel,
    .write_so_far = write_so_far,
    .build_so_far = build_so_far,
};
