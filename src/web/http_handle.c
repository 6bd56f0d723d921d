/* SPDX-License-Identifier: MIT
 *
 * http_handle.c: the functions of <pprof_http.h> for servers of the program's own. They have no
 * socket and no thread.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_guest, e2e.http_server, page.browser
 */
#include "web/http_handle.h"

#include "arch/system_call.h"
#include "web/http_answer.h"
#include "web/http_routes.h"
#include "sys/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const uint64_t longest_wait_ns = 100000000;

/* The first version of the struct ended before its headers. */
static bool is_sized(const pprof_http_request *request)
{
    return request->size == offsetof(pprof_http_request, headers) ||
           (request->size >= sizeof *request &&
            (request->headers != NULL || request->header_count == 0));
}

static bool is_whole_request(const pprof_http_request *request)
{
    return request != NULL && is_sized(request) && request->method != NULL &&
           request->target != NULL && (request->body != NULL || request->body_size == 0);
}

static bool is_whole_response(const pprof_http_response *response)
{
    return response != NULL && response->size >= sizeof *response && response->begin != NULL &&
           response->write != NULL;
}

/* ---- the page that a browser shows ---- */

/* The value of a header; NULL: the request has no such header, or its server does not tell. */
static const char *header_of(const pprof_http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (strcasecmp(request->headers[i].name, name) == 0) {
            return request->headers[i].value;
        }
    }
    return NULL;
}

/* Whether "SCHEME://HOST", with a path after it or without, has this host. */
static bool is_at_host(const char *url, const char *host)
{
    const char *after_scheme = strstr(url, "://");
    if (after_scheme == NULL || host == NULL) {
        return false;
    }
    const char *found = after_scheme + 3;
    size_t length = strcspn(found, "/?#");
    return length == strlen(host) && strncasecmp(found, host, length) == 0;
}

/* What the browser says of the site comes before the origin: a proxy may have changed the host. */
static bool is_from_own_page(const pprof_http_request *request)
{
    const char *site = header_of(request, "Sec-Fetch-Site");
    const char *origin = header_of(request, "Origin");
    if (site != NULL) {
        return strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
    }
    return origin == NULL || is_at_host(origin, header_of(request, "Host"));
}

/*
 * Reads the headers of a request: Host, Origin, Sec-Fetch-Site and Sec-Fetch-Dest [Fetch Metadata; as
 * net/http CrossOriginProtection]. What has none of these comes from no browser, or from an old one.
 * Another port of the same machine is another site: what listens there need not be the user's.
 */
static pp_http_site site_of(const pprof_http_request *request)
{
    if (request->size < sizeof *request || request->header_count == 0) {
        return PP_HTTP_OWN_SITE;
    }
    const char *destination = header_of(request, "Sec-Fetch-Dest");
    bool is_whole_url = *request->target != '/';
    if (is_from_own_page(request) &&
        (!is_whole_url || is_at_host(request->target, header_of(request, "Host")))) {
        return PP_HTTP_OWN_SITE;
    }
    return destination != NULL && strcmp(destination, "document") != 0 ? PP_HTTP_EMBEDDED
                                                                       : PP_HTTP_LINKED;
}

/* ---- in steps ---- */

/* Copies what the caller need not keep. NULL: there is no memory. */
static pprof_http_answer *new_answer(const pprof_http_request *request, const char **target)
{
    pp_arena arena = PP_ARENA_INIT;
    pprof_http_answer *answer = pp_arena_alloc(&arena, sizeof *answer);
    *target = pp_arena_text(&arena, request->target, strlen(request->target));
    const char *method = pp_arena_text(&arena, request->method, strlen(request->method));
    const char *body =
        pp_arena_text(&arena, request->body_size > 0 ? request->body : "", request->body_size);
    if (arena.failed) {
        pp_arena_release(&arena);
        return NULL;
    }
    *answer = (pprof_http_answer){.method = method,
                                  .is_head = strcmp(method, "HEAD") == 0,
                                  .site = site_of(request),
                                  .name = "",
                                  .body = body,
                                  .body_size = request->body_size};
    answer->arena = arena;
    return answer;
}

static void free_answer(pprof_http_answer *answer)
{
    pp_arena arena = answer->arena; /* which has the answer itself */
    pp_arena_release(&arena);
}

static int begin(pp_http_router *route, const pprof_http_request *request,
                 pprof_http_answer **answer, uint64_t *wait_ns)
{
    const char *target = NULL;
    pprof_http_answer *begun = new_answer(request, &target);
    if (begun == NULL) {
        return -ENOMEM;
    }
    route(begun, target);
    *answer = begun;
    *wait_ns = begun->wait_ns;
    return 0;
}

/* A thread that were cancelled in the middle would leave locks, and what is collected. */
static int hold_cancellation(void)
{
    int before = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

int pp_http_begin_by(pp_http_router *route, const pprof_http_request *request,
                     pprof_http_answer **answer, uint64_t *wait_ns)
{
    if (!is_whole_request(request) || answer == NULL || wait_ns == NULL) {
        return -EINVAL;
    }
    int cancel_state = hold_cancellation();
    int error = begin(route, request, answer, wait_ns);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

int pprof_http_begin(const pprof_http_request *request, pprof_http_answer **answer,
                     uint64_t *wait_ns)
{
    return pp_http_begin_by(pp_http_route, request, answer, wait_ns);
}

int pprof_http_finish(pprof_http_answer *answer, pprof_http_response *response)
{
    if (answer == NULL || !is_whole_response(response)) {
        pprof_http_cancel(answer);
        return -EINVAL;
    }
    int cancel_state = hold_cancellation();
    int error = pp_http_answer_give(answer, response);
    pprof_http_cancel(answer);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

void pprof_http_cancel(pprof_http_answer *answer)
{
    if (answer == NULL) {
        return;
    }
    int cancel_state = hold_cancellation();
    if (answer->cancel != NULL) {
        answer->cancel(answer);
    }
    free_answer(answer);
    pthread_setcancelstate(cancel_state, NULL);
}

/* ---- in one step ---- */

static int sleep_for(void *unused, uint64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / PP_NS_PER_S),
                                  .tv_nsec = (long)(ns % PP_NS_PER_S)};
    (void)unused;
    pp_system_call(SYS_nanosleep, &time, NULL);
    return 0;
}

/* 0, or -ECANCELED if the client is gone. */
static int wait(const pprof_http_request *request, uint64_t wait_ns)
{
    uint64_t start_ns = pp_clock_ns(CLOCK_MONOTONIC);
    uint64_t passed_ns = 0;
    int (*sleep)(void *ctx, uint64_t ns) = request->wait != NULL ? request->wait : sleep_for;
    for (; passed_ns < wait_ns; passed_ns = pp_clock_ns(CLOCK_MONOTONIC) - start_ns) {
        uint64_t left_ns = wait_ns - passed_ns;
        if (sleep(request->ctx, left_ns < longest_wait_ns ? left_ns : longest_wait_ns) != 0) {
            return -ECANCELED;
        }
    }
    return 0;
}

static int handle(const pprof_http_request *request, pprof_http_response *response)
{
    pprof_http_answer *answer = NULL;
    uint64_t wait_ns = 0;
    int error = pprof_http_begin(request, &answer, &wait_ns);
    if (error == 0) {
        error = wait(request, wait_ns);
    }
    if (error != 0) {
        pprof_http_cancel(answer);
        return error;
    }
    return pprof_http_finish(answer, response);
}

int pprof_http_handle(const pprof_http_request *request, pprof_http_response *response)
{
    if (!is_whole_response(response)) {
        return -EINVAL;
    }
    int cancel_state = hold_cancellation();
    int error = handle(request, response);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}
