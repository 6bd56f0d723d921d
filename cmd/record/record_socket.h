/* SPDX-License-Identifier: MIT
 *
 * record_socket.h: the socket on which the recorded processes send their profiles.
 *
 * The command inherits one end, open and with a high number. So its profiles arrive even if it may
 * open no file any more: in a sandbox, under another root, as another user. An option of the
 * library has the number and the socket's device and inode, and cpprof's process id. Without
 * `subprocesses` the library keeps the command's children from inheriting the socket.
 *
 * Owns: both ends.
 */
#ifndef CP_RECORD_SOCKET_H
#define CP_RECORD_SOCKET_H

#include <stdbool.h>

typedef struct cp_parts cp_parts;
typedef struct cp_tree cp_tree;

typedef struct cp_record_socket {
    int own;       /* cpprof's end; -1 if there is no socket */
    int command;   /* the command's end, or -1 */
    char word[96]; /* the library's option, after a comma; "" if there is no socket */
} cp_record_socket;

/* If no descriptor is free there is no socket, and the processes write files. */
void cp_record_socket_open(cp_record_socket *socket);

/* Closes the command's end in cpprof. To be called after the command has started. */
void cp_record_socket_started(cp_record_socket *socket);

/* Takes the messages that have arrived; never waits. `tree` may be NULL. */
void cp_record_socket_take(cp_record_socket *socket, cp_parts *parts, cp_tree *tree);

void cp_record_socket_close(cp_record_socket *socket);

#endif
