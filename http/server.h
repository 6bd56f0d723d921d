/* SPDX-License-Identifier: MIT
 *
 * server.h: the loop of the server's one thread.
 *
 *   poll --> a new client          --> connection_begin()
 *        --> bytes, a hang-up      --> connection_go_on()
 *        --> an answer that is due --> answer(), which makes it once for all who wait for the same
 *        --> two seconds passed    --> is the program still there?
 *
 * The sockets are in a table of descriptors of the thread's own, where the program cannot close them or take their
 * numbers. While there is no such thread (before it begins, and while the program changes its identity) they are parked
 * in a message that waits in a socket pair. One end of the pair is the only descriptor in the program's table:
 *
 *   program's table   link ==========.                        link == [listener, bell, clients' sockets]
 *   thread's table    link, bell ====', listener, clients     no thread
 *
 * Where the thread may not leave the program's table, with `engine=perf`, in a program with a collector, which the
 * thread calls, and for the control socket, where it starts profiles, all are in the program's table, and are compared
 * before each use.
 */
#ifndef PP_HTTP_SERVER_H
#define PP_HTTP_SERVER_H

#include "connection.h"

#include <stdbool.h>

enum { SERVER_CONNECTIONS = 64 };

typedef struct server {
    descriptor listener;
    descriptor link; /* wakes the thread; all descriptors are parked in it */
    descriptor bell; /* the other end, which the thread listens to */
    bool is_apart;   /* the others are in the thread's own table */
    bool is_parked;  /* the others are in `link` */
    connection_rules rules;
    uint64_t accept_at_ns; /* no new clients before: there was no descriptor */
    bool stops;            /* set by any thread, which then calls server_wake() */
    bool is_over;          /* the loop has ended */
    connection connections[SERVER_CONNECTIONS];
} server;

/* Begins with no descriptor and no client. */
void server_init(server *s);

/* Takes a socket that listens, and parks it for server_run(), if its thread may leave the program's table. 0 or -errno: then the caller calls server_close(). */
int server_open(server *s, int listener);

/* Serves until `stops`, or the program has closed the listener, or all its threads have ended: true; then the caller
 * calls server_end(). False: its thread has to pause; everything is parked for the next call. */
bool server_run(server *s);

/* Closes everything, and ends what is collected; also when nobody can call server_run() any more. The caller of
 * server_open() closes `link` after that, if it is in its own table. */
void server_end(server *s);

/* Makes the loop look at `stops`, and whether it has to pause. */
void server_wake(const server *s);

/* Whether the descriptor is the server's. */
bool server_has(const server *s, int fd);

/* Closes everything, and ends what is collected; or forgets it, in the child of fork. */
void server_close(server *s);
void server_forget(server *s);

#endif
