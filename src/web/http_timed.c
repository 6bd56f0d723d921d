/* SPDX-License-Identifier: MIT
 *
 * http_timed.c: starts a collection with the request, and ends it with the response.
 *
 *   profile?seconds=10   what the sampler counts in that time
 *   profile?now=1        what it has counted since it started, at once
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_cpu
 */
#include "web/http_paths.h"

#include "host/kind.h"
#include "web/http_query.h"
#include "sys/clock.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

uint64_t pp_http_seconds_to_ns(int64_t seconds)
{
    uint64_t ns = 0;
    return __builtin_mul_overflow((uint64_t)seconds, (uint64_t)PP_NS_PER_S, &ns) ? UINT64_MAX : ns;
}

typedef struct timed {
    const pp_timed_profile *profile;
    void *collection;
} timed;

static const pp_timed_profile *timed_profile_of(const char *name)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_timed_profile *profile = pp_kinds[i]->timed;
        if (profile != NULL && strcmp(profile->name, name) == 0) {
            return profile;
        }
    }
    return NULL;
}

static int end(pprof_http_answer *answer, pprof_writer writer)
{
    const timed *t = answer->state;
    answer->cancel = NULL;
    return t->profile->end(t->collection, writer);
}

static void cancel(pprof_http_answer *answer)
{
    const timed *t = answer->state;
    t->profile->cancel(t->collection);
}

/* False: it is no number above 0. 0: the request names none. The profile knows its largest. */
static bool read_hz(const char *query, int *hz)
{
    char value[PP_HTTP_VALUE_MAX];
    int64_t number = 0;
    *hz = 0;
    if (!pp_http_query_get(query, "hz", value) || value[0] == '\0') {
        return true;
    }
    bool is_good = pp_http_number(value, &number) && number > 0;
    *hz = !is_good ? 0 : number > INT_MAX ? INT_MAX : (int)number;
    return is_good;
}

/* NULL: the request can be answered. */
static const char *refusal(const char *query, const pp_timed_profile *profile, int *hz)
{
    int64_t debug = 0;
    if (!profile->ignores_debug && pp_http_query_number(query, "debug", &debug) && debug != 0) {
        return "this profile has no text form";
    }
    return read_hz(query, hz) ? NULL : "invalid value for \"hz\" - must be a positive integer";
}

/* `labels=0` leaves them out; `thread-label=1` adds one. */
static pp_timed_labels labels_of(const char *query)
{
    int64_t number = 0;
    if (pp_http_query_number(query, "labels", &number) && number == 0) {
        return PP_TIMED_NO_LABELS;
    }
    return pp_http_query_number(query, "thread-label", &number) && number > 0
               ? PP_TIMED_THREAD_LABEL
               : PP_TIMED_LABELS;
}

static void begin(pprof_http_answer *answer, const pp_timed_profile *profile)
{
    int hz = 0;
    const char *refused = refusal(answer->query, profile, &hz);
    if (refused != NULL) {
        pp_http_fail(answer, 400, refused);
        return;
    }
    if (pp_http_refuses_site(answer)) {
        return;
    }
    timed *t = pp_arena_alloc(&answer->arena, sizeof *t);
    const char *why = "no memory";
    int64_t seconds = 0;
    if (!pp_http_query_number(answer->query, "seconds", &seconds) || seconds <= 0) {
        seconds = PP_HTTP_SECONDS;
    }
    int error = t != NULL ? profile->begin(hz, labels_of(answer->query), &answer->arena,
                                           &t->collection, &why)
                          : -ENOMEM;
    if (error != 0) {
        const char *what = pp_http_join(answer, "Could not enable ", profile->what);
        pp_http_fail(answer, error == -EINVAL ? 400 : 500,
                     pp_http_join(answer, what, pp_http_join(answer, " profiling: ", why)));
        return;
    }
    t->profile = profile;
    answer->state = t;
    answer->cancel = cancel;
    answer->wait_ns = pp_http_seconds_to_ns(seconds);
    pp_http_succeed_as_file(answer, "", end);
}

static int write_so_far(pprof_http_answer *answer, pprof_writer writer)
{
    const timed *t = answer->state;
    int error = t->profile->write_so_far(labels_of(answer->query), &answer->arena, writer);
    if (error == -ESRCH) {
        const char *what = pp_http_join(answer, "no ", t->profile->what);
        pp_http_fail(
            answer, 404,
            pp_http_join(answer, what, " profile runs: a request with seconds= starts one"));
        return 0;
    }
    return error;
}

static void begin_so_far(pprof_http_answer *answer, const pp_timed_profile *profile)
{
    timed *t = pp_arena_alloc(&answer->arena, sizeof *t);
    if (t == NULL) {
        pp_http_fail(answer, 500, "no memory");
        return;
    }
    *t = (timed){.profile = profile};
    answer->state = t;
    pp_http_succeed_as_file(answer, "", write_so_far);
}

static bool wants_so_far(const char *query)
{
    int64_t number = 0;
    return pp_http_query_number(query, "now", &number) && number > 0;
}

/* HEAD begins nothing. */
static int write_nothing(pprof_http_answer *answer, pprof_writer writer)
{
    (void)answer;
    return writer.write(writer.ctx, "", 0);
}

bool pp_http_timed(pprof_http_answer *answer)
{
    const pp_timed_profile *profile = timed_profile_of(answer->name);
    if (profile != NULL && answer->is_head) {
        pp_http_succeed_as_file(answer, "", write_nothing);
    } else if (profile != NULL && wants_so_far(answer->query)) {
        begin_so_far(answer, profile);
    } else if (profile != NULL) {
        begin(answer, profile);
    }
    return profile != NULL;
}
