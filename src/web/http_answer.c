/* SPDX-License-Identifier: MIT
 *
 * http_answer.c: status, headers and body of a response.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_contract
 */
#include "web/http_answer.h"

#include "base/text.h"
#include "encode/text_stream.h"
#include "sys/error_text.h"

#include <errno.h>
#include <string.h>

enum { MAX_HEADERS = 5 };

void pp_http_fail(pprof_http_answer *answer, int status, const char *text)
{
    answer->status = status;
    answer->error = text;
    answer->type = PP_HTTP_TEXT;
    answer->file = NULL;
    answer->write = NULL;
    answer->wait_ns = 0;
}

bool pp_http_refuses_site(pprof_http_answer *answer)
{
    bool refuses = answer->site != PP_HTTP_OWN_SITE;
    if (refuses) {
        pp_http_fail(answer, 403,
                     "a page of another site asks for this; if you want it, type the address");
    }
    return refuses;
}

void pp_http_succeed(pprof_http_answer *answer, const char *type,
                     int (*write)(pprof_http_answer *answer, pprof_writer writer))
{
    answer->status = 200;
    answer->type = type;
    answer->write = write;
}

void pp_http_succeed_as_file(pprof_http_answer *answer, const char *suffix,
                             int (*write)(pprof_http_answer *answer, pprof_writer writer))
{
    pp_http_succeed(answer, PP_HTTP_FILE, write);
    answer->file = pp_http_join(answer, answer->name, suffix);
}

const char *pp_http_join(pprof_http_answer *answer, const char *x, const char *y)
{
    size_t length = strlen(x);
    size_t more = strlen(y);
    char *both = pp_arena_array(&answer->arena, length + more + 1, 1);
    if (both == NULL) {
        return "";
    }
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the next call ends the text */
    memcpy(both, x, length);
    memcpy(both + length, y, more + 1);
    return both;
}

bool pp_http_answers_are_same(const pprof_http_answer *x, const pprof_http_answer *y)
{
    return x->is_of_the_moment && y->is_of_the_moment && x->is_head == y->is_head &&
           strcmp(x->name, y->name) == 0 && strcmp(x->query, y->query) == 0;
}

/* ---- the response ---- */

typedef struct giving {
    pprof_http_answer *answer;
    pprof_http_response *response;
    bool begun;
    int error; /* of the response's functions */
} giving;

/* 'attachment; filename="NAME"'. Names have no control characters, but may have quotes. */
static const char *disposition(pprof_http_answer *answer)
{
    char *name = pp_arena_text(&answer->arena, answer->file, strlen(answer->file));
    for (char *c = name; c != NULL && *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            *c = '_';
        }
    }
    const char *begin = pp_http_join(answer, "attachment; filename=\"", name != NULL ? name : "");
    return pp_http_join(answer, begin, "\"");
}

static void begin(giving *g)
{
    pprof_http_answer *answer = g->answer;
    pprof_http_header headers[MAX_HEADERS];
    size_t count = 0;
    headers[count++] = (pprof_http_header){"Content-Type", answer->type};
    headers[count++] = (pprof_http_header){"X-Content-Type-Options", "nosniff"};
    if (answer->file != NULL) {
        headers[count++] = (pprof_http_header){"Content-Disposition", disposition(answer)};
    }
    if (answer->error != NULL && answer->status >= 400) {
        headers[count++] = (pprof_http_header){"X-Go-Pprof", "1"};
    }
    if (answer->header_name != NULL) {
        headers[count++] = (pprof_http_header){answer->header_name, answer->header_value};
    }
    g->begun = true;
    g->error = g->response->begin(g->response->ctx, answer->status, headers, count);
}

/* The status is sent with the first byte: until then it may become an error. */
static int write_piece(void *context, const void *data, size_t length)
{
    giving *g = context;
    if (!g->begun) {
        begin(g);
    }
    if (g->error == 0 && !g->answer->is_head && length > 0) {
        g->error = g->response->write(g->response->ctx, data, length);
    }
    return g->error;
}

static void give_error(giving *g)
{
    write_piece(g, g->answer->error, strlen(g->answer->error));
    write_piece(g, "\n", 1);
}

static const char *failure(pprof_http_answer *answer, int error)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "failed to collect profile: ");
    pp_text_add(&text, pp_error_text(error));
    const char *copy = pp_arena_text(&answer->arena, text.data, text.length);
    return copy != NULL ? copy : "failed to collect profile";
}

int pp_http_answer_give(pprof_http_answer *answer, pprof_http_response *response)
{
    giving g = {.answer = answer, .response = response};
    int error = 0;
    if (answer->write != NULL) {
        error = answer->write(answer, (pprof_writer){write_piece, &g});
    }
    if (error == -ENOTSUP && !g.begun) {
        pp_http_fail(answer, 400, "this profile has no text form");
    } else if (error != 0 && !g.begun) {
        pp_http_fail(answer, 500, error == -ENOMEM ? "no memory" : failure(answer, error));
    }
    if (answer->error != NULL && !g.begun) {
        give_error(&g);
    }
    write_piece(&g, "", 0); /* an empty body has a status, too */
    return g.error != 0 ? g.error : answer->error == NULL ? error : 0;
}
