/* SPDX-License-Identifier: MIT
 *
 * connection.h: one client of the server, from its request to its answer.
 *
 *   READS --(the request is whole)--> WAITS --(it is due)--> IS_DUE --(connection_send_answer)--> WRITES
 *     ^  \-----(it is refused)--------------------------------------------------------------/  |
 *     \------(keep-alive)----------------------------------------------------------------------+
 *                                                      FREE <--(the client closes)-- LINGERS <-/
 *
 * Nothing here waits: the loop in server.c does.
 */
#ifndef PP_HTTP_CONNECTION_H
#define PP_HTTP_CONNECTION_H

#include "descriptor.h"
#include "mapped_bytes.h"
#include "request.h"
#include "token.h"

#include <pprof_http.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum connection_state {
    CONNECTION_FREE,
    CONNECTION_READS,
    CONNECTION_WAITS,  /* a profile is collected for it; a client that hangs up ends that */
    CONNECTION_IS_DUE, /* its answer can be made */
    CONNECTION_WRITES,
    CONNECTION_LINGERS /* all is sent, but a reset would throw away what is not read yet */
} connection_state;

enum { CONNECTION_HEAD_MAX = 6144 /* a name of a profile has 1023 bytes, in three headers */ };

/* Whom the server answers, and the clock of all its times. */
typedef struct connection_rules {
    uint64_t (*now_ns)(void);
    token token;
    bool only_loopback_hosts;
    bool is_control; /* clients are this user's, or root's, and may change what is recorded */
    uid_t user;
} connection_rules;

typedef struct connection {
    connection_state state;
    const connection_rules *rules;
    descriptor socket;
    uint64_t since_ns;    /* when the state began */
    uint64_t deadline_ns; /* when it must be over */
    /* The request. */
    bytes in;      /* what has come and is not answered */
    bytes head;    /* a copy of the head, for `request` */
    size_t length; /* of the head; 0: it is not whole */
    request_head request;
    /* The answer. */
    pprof_http_answer *answer;
    char out_head[CONNECTION_HEAD_MAX];
    size_t out_head_length;
    bytes out;
    size_t sent; /* of out_head and out */
    bool keeps_alive;
} connection;

/* Begins with a connected socket. The rules stay as long as the connection. */
void connection_begin(connection *c, int fd, uint64_t now_ns, const connection_rules *rules);

/* Frees everything, ends what is collected, and hangs up. */
void connection_end(connection *c);

/* In the child of fork: frees what it has inherited. */
void connection_forget(connection *c);

/* The events to wait for. */
short connection_events(const connection *c);

/* Goes on after `events` (0: it is only time to look), as far as it goes without waiting. */
void connection_go_on(connection *c, short events, uint64_t now_ns);

/* Whether two connections are due that get the same answer. */
bool connection_is_twin(const connection *c, const connection *other);

/* Makes the answer of a connection that is due. */
void connection_make_answer(connection *c);

/* Takes a copy of the answer that was made for a twin. */
void connection_copy_answer(connection *c, const connection *twin);

/* Begins to send the answer. If that is all sent at once, the next request may be due already: its
 * bytes may have come with those of this one. */
void connection_send_answer(connection *c, uint64_t now_ns);

#endif
