/* SPDX-License-Identifier: MIT
 *
 * service.h: a server with its thread. A process has two at most: that of <pprof_http.h> (serve.c)
 * and that of the control socket (control.c).
 *
 *   IDLE --(claim)--> CHANGES --(open, settle)--> RUNS --(stop)--> CHANGES --> IDLE
 *
 * Owns: the server, its thread, and the file of its unix socket.
 */
#ifndef PP_HTTP_SERVICE_H
#define PP_HTTP_SERVICE_H

#include "server.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

typedef enum service_state { SERVICE_IDLE, SERVICE_CHANGES, SERVICE_RUNS } service_state;

/* Begins as 0: it takes no room in the file, and no memory before it is used. */
typedef struct service {
    int state; /* a service_state */
    server server;
    char file[PATH_MAX]; /* of a unix socket; "": none */
    struct stat file_status;
    bool ends_at_exec; /* the file is removed before an exec, and somebody starts the service again
                        * if the exec fails */
} service;

/* Makes the service follow what happens to the process from now on; and gives libpprof the page. May
 * be called again. */
void service_watch(service *s);

/* Makes the caller the one who changes the service, with a server that has no descriptor yet. False
 * if the service runs, or another thread changes it. */
bool service_claim(service *s);

/* Serves the listener from a thread with this name (at most 15 characters). Takes the descriptor.
 * 0 or -errno. */
int service_open(service *s, int listener, const char *name);

/* Ends the change: the service runs, or has none of its descriptors any more if `error` is not 0.
 * Returns `error`. */
int service_settle(service *s, int error);

/* Ends the server, its connections, and what it collects for them, if it runs, and removes the
 * socket's file. The service is idle. */
void service_stop(service *s);

/* Whether the server runs, and has not ended by itself. */
bool service_runs(const service *s);

/* Whether the server itself has opened this descriptor. */
bool service_has(const service *s, int fd);

/* Remembers the file of the socket, which is bound already: `name` in the open folder `folder`,
 * which `path` leads to (AT_FDCWD and "": `name` is a path). */
void service_keep_file(service *s, int folder, const char *path, const char *name);

/* Removes that file, if it is still the same. Async-signal-safe. */
void service_remove_file(const service *s);

/* Whether the file is where it was. */
bool service_has_file(const service *s);

/* Whether it is there no more. A program that has become another user cannot tell: then it is not lost. */
bool service_has_lost_file(const service *s);

#endif
