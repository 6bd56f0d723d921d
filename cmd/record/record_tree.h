/* SPDX-License-Identifier: MIT
 *
 * record_tree.h: the processes of a recording: their names, who started whom, and who could not be
 * followed.
 *
 *   message: "libpprof-process 1 EVENT PID PARENT STAMP OWN-NS CHILDREN-NS NAME"
 *            (src/sys/recorder.h has the events)
 *
 * The kernel adds up the CPU time of the children for which a process has waited. What is left of
 * this sum, without the times that the followed ones among them have told, was used by the others.
 * So their time is known although nobody measured it. Several that one process has started share
 * what is left.
 *
 * Owns: the processes.
 */
#ifndef CP_RECORD_TREE_H
#define CP_RECORD_TREE_H

#include "base/index_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CP_TREE_NAME_BYTES = 64 };

typedef enum cp_tree_state {
    CP_TREE_EXECUTES, /* a program that should have loaded the library */
    CP_TREE_STATIC,
    CP_TREE_FOREIGN,
    CP_TREE_PRIVILEGED,
    CP_TREE_CLEARED,
    CP_TREE_CONFINED,
    CP_TREE_RUNS,
    CP_TREE_ENDED,
    CP_TREE_STATES
} cp_tree_state;

typedef struct cp_tree_process {
    pid_t pid;
    uint32_t parent; /* index; process 0 stands for cpprof */
    cp_tree_state state;
    bool began;    /* the library was loaded */
    bool wrote;    /* a profile of the process is there */
    bool detached; /* nobody waited for the process: it outlived its parent */
    uint64_t stamp;
    double own, children; /* seconds of CPU time */
    double accounted;     /* what followed processes below it have told */
    char name[CP_TREE_NAME_BYTES];
} cp_tree_process;

/* A program that a process executed; with the same stamp also its children of fork. */
typedef struct cp_tree_program {
    pid_t pid;
    uint64_t stamp;
    char name[CP_TREE_NAME_BYTES];
} cp_tree_program;

typedef struct cp_tree {
    cp_tree_process *list;
    size_t count, capacity;
    cp_tree_program *programs;
    size_t program_count, program_capacity;
    cp_index_table by_pid, by_program;
} cp_tree;

void cp_tree_init(cp_tree *tree);
void cp_tree_release(cp_tree *tree);

/* Adds the command, which cpprof itself has started. */
void cp_tree_command(cp_tree *tree, pid_t pid, const char *command);

/* Returns false if the message is another one. */
bool cp_tree_take_message(cp_tree *tree, const char *data, size_t length);

/* A profile of the process has arrived, perhaps as a file: a program that closes all descriptors
 * tells nothing any more. */
void cp_tree_wrote(cp_tree *tree, pid_t pid, uint64_t stamp);

/* The name of the program in a process, or NULL. */
const char *cp_tree_name(const cp_tree *tree, pid_t pid, uint64_t stamp);

/* The number of processes that were followed. */
size_t cp_tree_followed(const cp_tree *tree);

/* Whether a followed process still runs. */
bool cp_tree_goes_on(const cp_tree *tree);

/* Complains of those who were not followed. `seconds`: the CPU time of the command and of all for
 * which it has waited. */
void cp_tree_say_missing(cp_tree *tree, double seconds);

#endif
