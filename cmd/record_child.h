/* SPDX-License-Identifier: MIT
 *
 * record_child.h: running a command as if nobody stood in between.
 *
 * The command gets the file descriptors, the signal mask, the signal dispositions, the process
 * group and the terminal that cpprof was started with. While it runs, signals that were sent to
 * cpprof are handed on to it; signals of the terminal are not, since the terminal sends them to the
 * whole process group. When it stops (Ctrl-Z), cpprof stops, so that the shell sees the job stop.
 *
 * Owns: the child process until cp_child_wait() returns. From cp_child_start() on, cpprof's own
 * signals are blocked and taken synchronously; there are no handlers.
 */
#ifndef CP_RECORD_CHILD_H
#define CP_RECORD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct cp_error cp_error;
typedef struct cp_parts cp_parts;
typedef struct cp_record_socket cp_record_socket;

typedef struct cp_child {
    pid_t pid;
    int status;                    /* as waitpid() gives it, once it has ended */
    char last_name[32];            /* what it called itself at its end: another one after exec */
    double seconds;                /* of CPU time that it used */
    double children_seconds;       /* likewise, the processes that it waited for */
    sigset_t mask;                 /* cpprof's at the start */
    struct sigaction child_action; /* likewise, of SIGCHLD */
} cp_child;

/* Called while the command runs: twice a second with CP_CHILD_RUNS, and before cpprof stops or
 * goes on to other output with CP_CHILD_PAUSES. */
typedef enum cp_child_event { CP_CHILD_RUNS, CP_CHILD_PAUSES } cp_child_event;
typedef void cp_child_watcher(void *ctx, const cp_child *child, cp_child_event event);

/* Starts argv[0], found along PATH, with that environment. Returns 0, or the exit status that a
 * shell would use (126 or 127) with a sentence. */
int cp_child_start(cp_child *child, char *const *argv, char *const *environment, cp_error *error);

enum { CP_CHILD_STAT_BYTES = 1024 };

/* What /proc/PID/stat says behind the name, which is in parentheses and may hold anything: " S ..."
 * from the third field on. NULL if it cannot be read. */
char *cp_child_stat(pid_t pid, char line[CP_CHILD_STAT_BYTES]);

/* Waits for its end, and takes meanwhile what the recorded processes send. `watcher` may
 * be NULL. */
void cp_child_wait(cp_child *child, cp_record_socket *socket, cp_parts *parts,
                   cp_child_watcher *watcher, void *ctx);

/* Ends cpprof as the command ended: with its exit status, or by the same signal without a core.
 * `otherwise` is the status in the place of 0. */
_Noreturn void cp_child_end_alike(const cp_child *child, int otherwise);

#endif
