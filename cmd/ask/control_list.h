/* SPDX-License-Identifier: MIT
 *
 * control_list.h: the processes of this machine that have libpprof in them, as far as /proc shows.
 */
#ifndef CP_CONTROL_LIST_H
#define CP_CONTROL_LIST_H

#include "base/pool.h"

#include <stddef.h>
#include <sys/types.h>

/* The texts are the list's. */
typedef struct cp_process {
    int pid;
    uid_t user;
    const char *user_name; /* or its number */
    const char *command;   /* with its arguments, without control characters */
    const char *control;   /* the path of the socket on which it has answered, or NULL */
    const char *http;      /* where it serves, or NULL */
    const char *on;        /* what it records, such as "cpu heap:524288"; NULL: it has not said */
    const char *hindrance; /* why it cannot be asked; NULL if it can */
} cp_process;

typedef struct cp_process_list {
    cp_pool pool;
    cp_process *processes; /* by number */
    size_t count, room;
} cp_process_list;

/* Asks each process. One that does not answer costs 2 seconds. */
void cp_process_list_read(cp_process_list *list);
void cp_process_list_release(cp_process_list *list);

/* Removes sockets of this user that nobody listens on any more. */
void cp_control_remove_left(void);

#endif
