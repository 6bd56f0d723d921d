/* SPDX-License-Identifier: MIT
 *
 * server.h: the loop of the server's one thread.
 *
 *   poll --> a new client          --> connection_begin()
 *        --> bytes, a hang-up      --> connection_go_on()
 *        --> an answer that is due --> answer(), which makes it once for all who wait for the same
 *        --> two seconds passed    --> is the program still there?
 */
#ifndef PP_HTTP_SERVER_H
#define PP_HTTP_SERVER_H

#include "connection.h"

#include <stdbool.h>

enum { SERVER_CONNECTIONS = 64 };

typedef struct server {
    descriptor listener;
    descriptor wake[2]; /* a pipe: its end to read, its end to write */
    connection_rules rules;
    uint64_t accept_at_ns; /* no new clients before: there was no descriptor */
    bool stops;            /* set by any thread, which then calls server_wake() */
    bool is_over;          /* the loop has ended */
    connection connections[SERVER_CONNECTIONS];
} server;

/* Begins with no descriptor and no client. */
void server_init(server *s);

/* Serves until `stops`, or the program has closed the listener, or all its threads have ended: true.
 * False: its thread has to pause; everything is kept for the next call. */
bool server_run(server *s);

/* What server_run() does before it returns true; for when nobody can call it any more. */
void server_end(server *s);

/* Makes the loop look at `stops`, and whether it has to pause. */
void server_wake(const server *s);

/* Whether the descriptor is the server's. */
bool server_has(const server *s, int fd);

/* Closes everything, and ends what is collected; or forgets it, in the child of fork. */
void server_close(server *s);
void server_forget(server *s);

#endif
