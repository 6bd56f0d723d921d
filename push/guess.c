/* SPDX-License-Identifier: MIT
 *
 * guess.c: see guess.h.
 *
 * Tested by: unit.cmd_push_sender, e2e.push
 */
#include "push/guess.h"

#include "push/retry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const push_format *const push_formats[] = {&push_format_pyroscope, &push_format_parca,
                                           &push_format_otlp, &push_format_ingest, NULL};

const push_format *push_format_named(const char *name)
{
    for (size_t i = 0; push_formats[i] != NULL; i++) {
        if (strcmp(push_formats[i]->name, name) == 0) {
            return push_formats[i];
        }
    }
    return NULL;
}

/* An answer from which nothing follows: the server may be another one in a minute. */
static bool is_no_answer(const push_answer *answer)
{
    return answer->status == 0 || answer->status == 401 || answer->status == 403 ||
           answer->status == 429 || (answer->status >= 500 && answer->status != 501);
}

static int ask(push_guess *g, const push_transport *t, uint64_t until_ns)
{
    const push_format *format = push_formats[g->next];
    const push_request request = {.path = format->path,
                                  .content_type = format->content_type,
                                  .body = format->probe,
                                  .size = format->probe_size};
    int error = t->exchange(t->context, &request, &g->answer, until_ns);
    bool is_refused_as_known = format->probe_answer != NULL && g->answer.status == 400 &&
                               strstr(g->answer.reason, format->probe_answer) != NULL;
    if (error == 0 && (is_refused_as_known || push_judge(format, &g->answer) == PUSH_SENT)) {
        g->found = format;
    }
    return error;
}

int push_guess_ask(push_guess *g, const push_transport *t, push_answer *answer, uint64_t until_ns)
{
    while (g->found == NULL && push_formats[g->next] != NULL) {
        if (push_formats[g->next]->probe != NULL) {
            int error = ask(g, t, until_ns);
            if (error != 0) {
                return error;
            }
        }
        if (is_no_answer(&g->answer)) {
            break;
        }
        g->next++;
    }
    if (g->found == NULL && !is_no_answer(&g->answer)) {
        g->answer = (push_answer){.status = 0};
        snprintf(g->answer.reason, sizeof g->answer.reason,
                 "the server is none for Pyroscope's, Parca's or OTLP's profiles, or its path is "
                 "another one");
    }
    *answer = g->answer;
    g->next = 0;
    return 0;
}

const push_format *push_guess_found(const push_guess *guess)
{
    return guess->found;
}
