/* SPDX-License-Identifier: MIT
 *
 * clients.h: the agent's HTTP server, which hands requests on to the processes (docs/FLEET.md).
 *
 *   READS --(it is for a process)--> RELAYS --\
 *     \-----(the agent's own pages)--> WRITES --> LINGERS --> closed
 *
 * Each connection has one request. What a process answers passes through a buffer of 16 KiB for
 * each client: a slow client slows nothing but the process's own socket.
 *
 * Owns: the listening socket, and everything of each client.
 */
#ifndef CP_AGENT_CLIENTS_H
#define CP_AGENT_CLIENTS_H

#include "agent/loop.h"
#include "agent/processes.h"

#include "http/address.h"
#include "http/token.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

typedef struct cp_error cp_error;
typedef struct cp_client cp_client;

typedef struct cp_clients {
    cp_loop_source listener;
    cp_processes *processes;
    server_address at;
    char address[ADDRESS_TEXT_MAX]; /* as a client writes it */
    struct stat file;               /* of a unix socket that was bound */
    token token;                    /* of length 0: none is asked for */
    cp_client *first;
    unsigned count;
    size_t body_bytes; /* of all requests that have not come whole */
} cp_clients;

/* Listens. `token_file` may be NULL. 0, or -1 with a sentence. */
int cp_clients_begin(cp_clients *all, cp_loop *loop, cp_processes *processes, const char *address,
                     const char *token_file, cp_error *error);
void cp_clients_end(cp_clients *all);

#endif
