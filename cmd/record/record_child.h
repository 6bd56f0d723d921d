/* SPDX-License-Identifier: MIT
 *
 * record_child.h: a command that runs as if its parent were the one of cpprof.
 *
 * The command gets the file descriptors, the signal mask, the signal dispositions, the process
 * group and the terminal that cpprof was started with. While it runs, cpprof passes on the signals
 * that it gets, except those of the terminal, which the terminal sends to the whole process group.
 * When the command stops (Ctrl-Z), cpprof stops too, so that the shell sees the job stop.
 *
 * Owns: the child process until cp_child_wait() returns; and, from cp_child_start() on, the signals
 * of cpprof: they are blocked and taken synchronously, without handlers.
 */
#ifndef CP_RECORD_CHILD_H
#define CP_RECORD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct cp_error cp_error;
typedef struct cp_parts cp_parts;
typedef struct cp_record_socket cp_record_socket;
typedef struct cp_tree cp_tree;

typedef struct cp_child {
    pid_t pid;
    int status;                    /* from waitpid(), after its end */
    char last_name[32];            /* the process's name at its end; an exec changes it */
    double seconds;                /* of CPU time that the command used */
    double children_seconds;       /* of CPU time that the processes used for which it waited */
    double all_seconds;            /* both, more exactly */
    sigset_t mask;                 /* cpprof's signal mask at the start */
    struct sigaction child_action; /* cpprof's action of SIGCHLD at the start */
} cp_child;

/* A watcher is called while the command runs: with CP_CHILD_RUNS twice a second, and with
 * CP_CHILD_PAUSES before cpprof stops or writes other output. */
typedef enum cp_child_event { CP_CHILD_RUNS, CP_CHILD_PAUSES } cp_child_event;
typedef void cp_child_watcher(void *ctx, const cp_child *child, cp_child_event event);

/* Starts argv[0], searched for along PATH, with that environment. Returns 0, or a sentence and the
 * exit status that a shell would use (126 or 127). */
int cp_child_start(cp_child *child, char *const *argv, char *const *environment, cp_error *error);

/* Waits for the child's end. Meanwhile it takes the messages of the recorded processes. `watcher`
 * may be NULL. */
void cp_child_wait(cp_child *child, cp_record_socket *socket, cp_parts *parts, cp_tree *tree,
                   cp_child_watcher *watcher, void *ctx);

/* Ends cpprof as the command ended: with its exit status, or by the same signal, without a core. If
 * that status is 0, cpprof's is `otherwise`. */
_Noreturn void cp_child_end_alike(const cp_child *child, int otherwise);

#endif
