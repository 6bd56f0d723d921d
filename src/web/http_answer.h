/* SPDX-License-Identifier: MIT
 *
 * http_answer.h: an answer on its way from the request to the response.
 *
 *   http_routes.c: target -> route.begin(answer) --> answer->write, wait_ns     200
 *                                                \-> pp_http_fail()             400 ... 501
 *   pp_http_answer_give(): answer->write(writer) --> begin(200, headers), write, write, ...
 *                                               \-> an error before the first byte: 500
 *
 * Zone: NORMAL.
 * Owns: an answer is in its own arena, with all that it points to.
 */
#ifndef PP_WEB_HTTP_ANSWER_H
#define PP_WEB_HTTP_ANSWER_H

#include "base/arena.h"

#include "pprof_http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PP_HTTP_TEXT "text/plain; charset=utf-8"
#define PP_HTTP_HTML "text/html; charset=utf-8"
#define PP_HTTP_FILE "application/octet-stream"

/* Where a browser has the request from. */
typedef enum pp_http_site {
    PP_HTTP_OWN_SITE, /* a page of this server, an address that the user has typed; or no browser */
    PP_HTTP_LINKED,   /* a page of another site leads here */
    PP_HTTP_EMBEDDED  /* it is to be a part of such a page: a picture, a script, a frame */
} pp_http_site;

struct pprof_http_answer {
    pp_arena arena;
    bool is_head;
    pp_http_site site;
    bool is_of_the_moment; /* says how things are when it is given, whoever asks; has no effect */
    /* The request. */
    const char *method;
    const char *name;  /* the path after "/debug/pprof/" or "/pprof/", decoded */
    const char *query; /* "" if there is none */
    const void *body;
    size_t body_size;
    /* The response. */
    int status;
    const char *error;                      /* the sentence of a status that is no success */
    const char *type;                       /* Content-Type */
    const char *file;                       /* the name of a file to save; NULL: none */
    const char *header_name, *header_value; /* one more header, or NULL */
    uint64_t wait_ns;                       /* before it is given */
    int (*write)(pprof_http_answer *answer, pprof_writer writer); /* the body */
    void (*cancel)(pprof_http_answer *answer); /* frees what is not in the arena; or NULL */
    void *state;                               /* of `write` and `cancel` */
};

/* Answers with an error, as Go does: a sentence, and the header X-Go-Pprof. `text` stays valid. */
void pp_http_fail(pprof_http_answer *answer, int status, const char *text);

/* Refuses a request that a page of another site makes the browser send: true. To be asked before
 * anything is collected or changed. */
bool pp_http_refuses_site(pprof_http_answer *answer);

/* Answers with 200 and a body of this type. */
void pp_http_succeed(pprof_http_answer *answer, const char *type,
                     int (*write)(pprof_http_answer *answer, pprof_writer writer));

/* Answers with 200 and a file to save: NAME, then `suffix`. */
void pp_http_succeed_as_file(pprof_http_answer *answer, const char *suffix,
                             int (*write)(pprof_http_answer *answer, pprof_writer writer));

/* A copy of "x" "y" in the answer's arena; "" if there is no memory. */
const char *pp_http_join(pprof_http_answer *answer, const char *x, const char *y);

/* Whether the same bytes will do for both, if both are given now. */
bool pp_http_answers_are_same(const pprof_http_answer *x, const pprof_http_answer *y);

/* Gives the response. 0 or the first error of its functions. */
int pp_http_answer_give(pprof_http_answer *answer, pprof_http_response *response);

#endif
