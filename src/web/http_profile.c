/* SPDX-License-Identifier: MIT
 *
 * http_profile.c: the profiles that have a name.
 *
 *   heap              written as it is
 *   heap?seconds=10   built now and after 10 seconds, and subtracted
 *   delta_heap        built, the one that was built for the last request is subtracted
 *
 * Zone: NORMAL.
 * Tested by: unit.http_since, e2e.http_contract, e2e.http_deltas
 */
#include "web/http_paths.h"

#include "base/buffer.h"
#include "encode/proto.h"
#include "host/kind.h"
#include "web/http_query.h"
#include "web/http_rate.h"
#include "modules/code_query.h"
#include "modules/modules.h"
#include "output/symbolize.h"
#include "profile/delta.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/tasks.h"
#include "sys/sandbox.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* ---- as it is ---- */

typedef struct snapshot {
    pprof_profile *profile;
    int debug;
} snapshot;

/* As pprof_profile_write(), but before_write() was not called, unless the request said so. */
static int write_now(pprof_http_answer *answer, pprof_writer writer)
{
    const snapshot *s = answer->state;
    if (s->profile->write == NULL) {
        return (pprof_profile_write)(s->profile, writer, s->debug);
    }
    pp_modules_refresh();
    if (pp_sandbox_permits_questions()) {
        pp_code_query_permit();
    }
    return s->profile->write(writer, s->debug);
}

/* Numbers that no text form has are those nearest to them. */
static int debug_of(const char *query)
{
    int64_t debug = 0;
    pp_http_query_number(query, "debug", &debug);
    return debug > INT_MAX ? INT_MAX : debug < PPROF_DEBUG_BARE ? PPROF_DEBUG_BARE : (int)debug;
}

static void begin_now(pprof_http_answer *answer, pprof_profile *profile)
{
    snapshot *s = pp_arena_alloc(&answer->arena, sizeof *s);
    const char *query = profile->before_write_query;
    int64_t number = 0;
    if (s == NULL) {
        pp_http_fail(answer, 500, "no memory");
        return;
    }
    *s = (snapshot){profile, debug_of(answer->query)};
    answer->state = s;
    answer->is_of_the_moment = true;
    if (query != NULL && pp_http_query_number(answer->query, query, &number) && number > 0) {
        if (pp_http_refuses_site(answer)) {
            return;
        }
        profile->before_write();
    }
    if (s->debug != 0) {
        pp_http_succeed(answer, PP_HTTP_TEXT, write_now);
    } else {
        pp_http_succeed_as_file(answer, "", write_now);
    }
}

/* ---- what changes in the time of the request ---- */

typedef struct delta {
    pprof_profile *profile;
    pp_set_rate *set_rate; /* NULL: the rate was left alone */
    pp_profile before;
    uint64_t start_ns; /* monotonic */
} delta;

static int build(const pprof_profile *profile, pp_arena *arena, pp_profile *built)
{
    pp_modules_refresh();
    return profile->build(arena, built);
}

static void release_rate(pprof_http_answer *answer)
{
    const delta *d = answer->state;
    answer->cancel = NULL;
    if (d->set_rate != NULL) {
        pp_http_rate_end(d->set_rate);
    }
}

static int write_delta(pprof_http_answer *answer, pprof_writer writer)
{
    const delta *d = answer->state;
    pp_profile now;
    int error = build(d->profile, &answer->arena, &now);
    release_rate(answer);
    if (error == 0) {
        error = pp_profile_subtract(&now, &d->before, &answer->arena);
    }
    if (error != 0) {
        return error;
    }
    now.duration_ns = (int64_t)(pp_clock_ns(CLOCK_MONOTONIC) - d->start_ns);
    now.symbolize = pp_symbolize_wanted();
    return pp_proto_encode(&now, &answer->arena, writer);
}

/* The rate changes after the first snapshot, so that nothing of it is lost in the second. */
static int start_delta(pprof_http_answer *answer, delta *d, int64_t rate)
{
    int error = build(d->profile, &answer->arena, &d->before);
    if (error == 0 && rate > 0) {
        error = pp_http_rate_begin(d->profile->set_rate, rate);
        d->set_rate = error == 0 ? d->profile->set_rate : NULL;
    }
    return error;
}

static const char *refusal(const pprof_http_answer *answer, const pprof_profile *profile,
                           bool is_number, int64_t seconds)
{
    int64_t rate = 0;
    bool has_rate = pp_http_query_number(answer->query, "rate", &rate);
    if (!is_number || seconds <= 0) {
        return "invalid value for \"seconds\" - must be a positive integer";
    }
    if (profile->build == NULL) {
        return "\"seconds\" parameter is not supported for this profile type";
    }
    if (debug_of(answer->query) != 0) {
        return "seconds and debug params are incompatible";
    }
    if (has_rate && (rate <= 0 || profile->set_rate == NULL)) {
        return rate <= 0 ? "invalid value for \"rate\" - must be a positive integer"
                         : "\"rate\" parameter is not supported for this profile type";
    }
    return NULL;
}

static int write_nothing(pprof_http_answer *answer, pprof_writer writer)
{
    (void)answer;
    return writer.write(writer.ctx, "", 0);
}

static void begin_delta(pprof_http_answer *answer, pprof_profile *profile, const char *value)
{
    int64_t seconds = 0;
    int64_t rate = 0;
    bool is_number = pp_http_number(value, &seconds);
    const char *refused = refusal(answer, profile, is_number, seconds);
    delta *d = pp_arena_alloc(&answer->arena, sizeof *d);
    pp_http_query_number(answer->query, "rate", &rate);
    if (refused != NULL) {
        pp_http_fail(answer, 400, refused);
        return;
    }
    if (pp_http_refuses_site(answer)) {
        return;
    }
    if (answer->is_head) {
        pp_http_succeed_as_file(answer, "-delta", write_nothing);
        return;
    }
    if (d != NULL) {
        *d = (delta){.profile = profile, .start_ns = pp_clock_ns(CLOCK_MONOTONIC)};
    }
    if (d == NULL || start_delta(answer, d, rate) != 0) {
        pp_http_fail(answer, 500, "failed to collect profile");
        return;
    }
    answer->state = d;
    answer->cancel = release_rate;
    answer->wait_ns = pp_http_seconds_to_ns(seconds);
    pp_http_succeed_as_file(answer, "-delta", write_delta);
}

/* ---- what has changed since the last request ---- */

enum { KEPT = 8 };

typedef struct kept {
    const pprof_profile *profile; /* NULL: the entry is free */
    pp_arena arena;
    pp_profile last;
    uint64_t at_ns; /* monotonic */
} kept;

static struct {
    pp_lock lock;
    kept list[KEPT];
} since;

static kept *find_kept(const pprof_profile *profile)
{
    for (unsigned i = 0; i < KEPT; i++) {
        if (since.list[i].profile == profile || since.list[i].profile == NULL) {
            return &since.list[i];
        }
    }
    return NULL;
}

/* The first time the profile has all since the start of the program, and no duration. */
static int encode_since(const kept *before, const kept *now, pp_arena *arena, pp_buffer *encoded)
{
    pp_profile profile = now->last;
    int error = 0;
    if (before->profile != NULL) {
        error = pp_profile_subtract(&profile, &before->last, arena);
        profile.duration_ns = (int64_t)(now->at_ns - before->at_ns);
    }
    profile.symbolize = pp_symbolize_wanted();
    return error != 0 ? error : pp_proto_encode_into(&profile, arena, encoded);
}

/* The caller holds the lock. An error leaves everything as it was. */
static int exchange(const pprof_profile *profile, pp_arena *arena, pp_buffer *encoded)
{
    kept *place = find_kept(profile);
    kept now = {.profile = profile, .arena = PP_ARENA_INIT};
    int error = place != NULL ? build(profile, &now.arena, &now.last) : -ENOSPC;
    now.at_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (error == 0) {
        error = encode_since(place, &now, arena, encoded);
    }
    if (error != 0) {
        pp_arena_release(&now.arena);
        return error;
    }
    pp_arena_release(&place->arena);
    *place = now;
    return 0;
}

static int write_since(pprof_http_answer *answer, pprof_writer writer)
{
    const snapshot *s = answer->state;
    pp_buffer encoded = PP_BUFFER_INIT;
    pp_lock_take(&since.lock, pp_task_self());
    int error = exchange(s->profile, &answer->arena, &encoded);
    pp_lock_release(&since.lock);
    if (error == 0) {
        error = writer.write(writer.ctx, encoded.data, encoded.size);
    }
    pp_buffer_release(&encoded);
    return error;
}

static void begin_since(pprof_http_answer *answer, pprof_profile *profile)
{
    if (pp_http_refuses_site(answer)) {
        return;
    }
    snapshot *s = pp_arena_alloc(&answer->arena, sizeof *s);
    if (s == NULL) {
        pp_http_fail(answer, 500, "no memory");
        return;
    }
    *s = (snapshot){.profile = profile};
    answer->state = s;
    pp_http_succeed_as_file(answer, "", answer->is_head ? write_nothing : write_since);
}

/* A thread that the child does not have may have been about to change the list: then the next request of each profile
 * is the first one again. */
void pp_http_profile_after_fork_in_child(void)
{
    bool is_whole = pp_lock_holder(&since.lock) == 0;
    for (unsigned i = 0; i < KEPT && !is_whole; i++) {
        since.list[i] = (kept){.profile = NULL};
    }
    pp_lock_release(&since.lock);
}

/* ---- which ---- */

static void fail_unknown(pprof_http_answer *answer)
{
    const char *what = "Unknown profile";
    if (pp_profile_is_off(answer->name)) {
        const char *off =
            pp_http_join(answer, answer->name, " is off; on with `cpprof configure` or LIBPPROF=");
        what = pp_http_join(answer, off, answer->name);
    }
    pp_http_fail(answer, 404, what);
}

void pp_http_profile(pprof_http_answer *answer)
{
    static const char prefix[] = "delta_";
    char seconds[PP_HTTP_VALUE_MAX];
    bool is_delta = strncmp(answer->name, prefix, strlen(prefix)) == 0;
    pprof_profile *profile = pprof_lookup(answer->name + (is_delta ? strlen(prefix) : 0));
    bool has_delta = profile != NULL && profile->build != NULL && profile->set_rate != NULL;
    if (profile == NULL || (is_delta && !has_delta)) {
        fail_unknown(answer);
    } else if (is_delta) {
        begin_since(answer, profile);
    } else if (pp_http_query_get(answer->query, "seconds", seconds) && seconds[0] != '\0') {
        begin_delta(answer, profile, seconds);
    } else {
        begin_now(answer, profile);
    }
}
