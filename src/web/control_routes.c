/* SPDX-License-Identifier: MIT
 *
 * control_routes.c: see control_routes.h.
 *
 * Zone: NORMAL.
 * Owns: the function that configures.
 * Tested by: e2e.control
 */
#include "web/control_routes.h"

#include "attach/attach.h"
#include "encode/text_stream.h"
#include "host/kind.h"
#include "output/output.h"
#include "sys/path_template.h"
#include "sys/tasks.h"
#include "web/http_answer.h"
#include "web/http_events.h"
#include "web/http_handle.h"
#include "web/http_routes.h"

#include <string.h>

enum { ADDRESS_MAX = 256 };

/* ---- status ---- */

static void add_rate(pp_text_stream *out, const pprof_profile *profile)
{
    int64_t rate = profile->set_rate(PPROF_RATE_READ);
    if (rate > 0) {
        pp_text_stream_add(out, " ");
        pp_text_stream_add(out, profile->name);
        pp_text_stream_add(out, ":");
        pp_text_stream_number(out, rate);
    }
}

/* The profiles that have rates tell them; two that share one come together. */
static bool add_rates(pp_text_stream *out, const pp_kind *kind)
{
    const pprof_profile *last = NULL;
    for (const pprof_profile *p = kind->profiles; p != NULL && p->name != NULL; p++) {
        if (p->set_rate != NULL && (last == NULL || p->set_rate != last->set_rate)) {
            add_rate(out, p);
            last = p;
        }
    }
    return last != NULL;
}

static void add_what_is_on(pp_text_stream *out)
{
    pp_text_stream_add(out, "on");
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind *kind = pp_kinds[i];
        if (!add_rates(out, kind) && pp_kind_is_on(kind)) {
            pp_text_stream_add(out, " ");
            pp_text_stream_add(out, kind->name);
        }
    }
    pp_text_stream_add(out, "\n");
}

/* The program's own profiles. There is no space in their names. */
static void add_own(pp_text_stream *out)
{
    const char *before = "profiles ";
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pprof_profile *own = pp_kinds[i]->made != NULL ? pp_kinds[i]->made() : NULL;
        for (; own != NULL; own = __atomic_load_n(&own->next, __ATOMIC_ACQUIRE)) {
            pp_text_stream_add(out, before);
            pp_text_stream_add(out, own->name);
            before = " ";
        }
    }
    if (*before == ' ') {
        pp_text_stream_add(out, "\n");
    }
}

static int write_status(pprof_http_answer *answer, pprof_writer writer)
{
    pp_text_stream out;
    char address[ADDRESS_MAX];
    (void)answer;
    pp_text_stream_init(&out, writer);
    pp_text_stream_add(&out, "version ");
    pp_text_stream_add(&out, pprof_version_string());
    pp_text_stream_add(&out, "\npid ");
    pp_text_stream_number(&out, pp_task_process());
    pp_text_stream_add(&out, "\nloaded ");
    pp_text_stream_unsigned(&out, pp_path_stamp());
    pp_text_stream_add(&out, "\n");
    add_what_is_on(&out);
    add_own(&out);
    if (pp_output_has_template()) {
        pp_text_stream_add(&out, "file ");
        pp_text_stream_add(&out, pp_output_template());
        pp_text_stream_add(&out, "\n");
    }
    if (pp_http_events_address(address, sizeof address)) {
        pp_text_stream_add(&out, "http ");
        pp_text_stream_add(&out, address);
        pp_text_stream_add(&out, "\n");
    }
    return pp_text_stream_finish(&out);
}

static void status(pprof_http_answer *answer)
{
    pp_http_succeed(answer, PP_HTTP_TEXT, write_status);
}

/* ---- configure ---- */

static int (*configure_by)(const char *options, pp_text *complaint);

void pp_control_routes_init(int (*by)(const char *options, pp_text *complaint))
{
    configure_by = by;
}

static void configure(pprof_http_answer *answer)
{
    const char *options = answer->body; /* it has a NUL at its end */
    pp_text why = PP_TEXT_INIT;
    if (*options == '\0' || strlen(options) != answer->body_size) {
        pp_http_fail(answer, 400, "expected options, as in LIBPPROF, such as heap:64k,block=off");
    } else if (configure_by(options, &why) != 0) {
        const char *said = why.length > 0 ? why.data : "the program's log says what was not done";
        pp_http_fail(answer, 400, pp_http_join(answer, said, ""));
    } else {
        status(answer);
    }
}

/* ---- attachments ---- */

static void let_go(pprof_http_answer *answer)
{
    (void)answer;
    pp_attach_release();
}

/* No answer is due as long as the client keeps the connection open. The end of the attachment
 * closes it. */
static void hold(pprof_http_answer *answer)
{
    status(answer);
    answer->wait_ns = UINT64_MAX;
    answer->cancel = let_go;
    pp_attach_hold();
}

static void stay(pprof_http_answer *answer)
{
    pp_attach_stay();
    status(answer);
}

static void detach(pprof_http_answer *answer)
{
    pp_attach_end();
    status(answer);
}

/* ---- paths ---- */

#define PREFIX      "/control/"
#define STATUS_PATH PREFIX "status"

static const struct control_route {
    const char *path;
    void (*begin)(pprof_http_answer *answer);
    bool is_post;
} routes[] = {{STATUS_PATH, status, false},
              {PREFIX "configure", configure, true},
              {PREFIX "detach", detach, true},
              {PREFIX "hold", hold, true},
              {PREFIX "stay", stay, true}};

/* A page cannot reach the socket, but what a proxy before it forwards can be from one. */
static void begin(pprof_http_answer *answer, const struct control_route *found)
{
    bool is_get = strcmp(answer->method, "GET") == 0 || answer->is_head;
    if (found->is_post ? strcmp(answer->method, "POST") != 0 : !is_get) {
        pp_http_fail(answer, 405, "method not allowed");
        answer->header_name = "Allow";
        answer->header_value = found->is_post ? "POST" : "GET, HEAD";
    } else if (!pp_http_refuses_site(answer)) {
        found->begin(answer);
    }
}

static void route(pprof_http_answer *answer, const char *target)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(routes[i].path, target) == 0) {
            begin(answer, &routes[i]);
            return;
        }
    }
    pp_http_route(answer, target);
}

int pp_control_begin(const pprof_http_request *request, pprof_http_answer **answer,
                     uint64_t *wait_ns)
{
    int error = pp_http_begin_by(route, request, answer, wait_ns);
    if (strcmp(request->target, STATUS_PATH) != 0) { /* `cpprof ps` asks it, and wants no more */
        pp_attach_expect_end(); /* after `hold`, which is to know whether it came first */
    }
    pp_attach_look(); /* what has begun now may need our hooks */
    return error;
}
