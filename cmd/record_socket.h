/* SPDX-License-Identifier: MIT
 *
 * record_socket.h: the socket on which the recorded processes send their profiles.
 *
 * The command inherits one end, open and under a high number, so that its profiles arrive also when
 * it may open no file any more: in a sandbox, under another root, as another user. The library is
 * told the number and what it leads to, and keeps the command's children from inheriting it.
 *
 * Owns: both ends.
 */
#ifndef CP_RECORD_SOCKET_H
#define CP_RECORD_SOCKET_H

#include <stdbool.h>

typedef struct cp_parts cp_parts;

typedef struct cp_record_socket {
    int own;       /* cpprof's end; -1 if there is no socket */
    int command;   /* the command's, or -1 */
    char word[80]; /* the library's option, with a comma in front; "" if there is no socket */
} cp_record_socket;

/* Without descriptors to be had there is no socket, and the processes write files. */
void cp_record_socket_open(cp_record_socket *socket);

/* Once the command has its end. */
void cp_record_socket_started(cp_record_socket *socket);

/* Takes what has arrived; never waits. */
void cp_record_socket_take(cp_record_socket *socket, cp_parts *parts);

void cp_record_socket_close(cp_record_socket *socket);

#endif
