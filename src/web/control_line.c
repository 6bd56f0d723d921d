/* SPDX-License-Identifier: MIT
 *
 * control_line.c: see control_line.h.
 *
 * Zone: NORMAL.
 * Owns: the function that configures.
 * Tested by: e2e.control
 */
#include "web/control_line.h"

#include "attach/attach.h"
#include "encode/text_stream.h"
#include "host/kind.h"
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
    pp_text_stream_add(&out, "\n");
    add_what_is_on(&out);
    if (pp_http_events_address(address, sizeof address)) {
        pp_text_stream_add(&out, "http ");
        pp_text_stream_add(&out, address);
        pp_text_stream_add(&out, "\n");
    }
    return pp_text_stream_finish(&out);
}

static void status(pprof_http_answer *answer, const char *unused)
{
    (void)unused;
    pp_http_succeed(answer, PP_HTTP_TEXT, write_status);
}

/* ---- configure ---- */

static int (*configure_by)(const char *options, pp_text *complaint);

void pp_control_line_init(int (*by)(const char *options, pp_text *complaint))
{
    configure_by = by;
}

static void configure(pprof_http_answer *answer, const char *options)
{
    pp_text why = PP_TEXT_INIT;
    if (*options == '\0') {
        pp_http_fail(answer, 400, "expected options, as in LIBPPROF: configure heap:64k,block=off");
    } else if (configure_by(options, &why) != 0) {
        const char *said = why.length > 0 ? why.data : "the program's log says what was not done";
        pp_http_fail(answer, 400, pp_http_join(answer, said, ""));
    } else {
        status(answer, options);
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
static void hold(pprof_http_answer *answer, const char *unused)
{
    pp_http_succeed(answer, PP_HTTP_TEXT, write_status);
    answer->wait_ns = UINT64_MAX;
    answer->cancel = let_go;
    pp_attach_hold();
    (void)unused;
}

static void stay(pprof_http_answer *answer, const char *unused)
{
    pp_attach_stay();
    status(answer, unused);
}

static void detach(pprof_http_answer *answer, const char *unused)
{
    pp_attach_end();
    status(answer, unused);
}

/* ---- lines ---- */

static const struct {
    const char *name;
    void (*begin)(pprof_http_answer *answer, const char *argument);
} verbs[] = {{"configure", configure},
             {"detach", detach},
             {"hold", hold},
             {"status", status},
             {"stay", stay}};

static void route(pprof_http_answer *answer, const char *line)
{
    size_t length = strcspn(line, " ");
    const char *argument = line + length + strspn(line + length, " ");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strlen(verbs[i].name) == length && strncmp(line, verbs[i].name, length) == 0) {
            verbs[i].begin(answer, argument);
            return;
        }
    }
    pp_http_route(answer, pp_http_join(answer, "/debug/pprof/", line));
}

int pp_control_line_ask(const char *line, pprof_http_answer **answer, uint64_t *wait_ns)
{
    const pprof_http_request request = {.size = sizeof request, .method = "GET", .target = line};
    int error = pp_http_begin_by(route, &request, answer, wait_ns);
    if (strcmp(line, "status") != 0) { /* as `cpprof ps` says, which wants nothing of it */
        pp_attach_expect_end();        /* after `hold`, which is to know whether it came first */
    }
    pp_attach_look(); /* what has begun now may need our hooks */
    return error;
}
