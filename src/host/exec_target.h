/* SPDX-License-Identifier: MIT
 *
 * exec_target.h: examines the file that the process is about to execute: whether it exists, and
 * whether this library can be preloaded into it.
 *
 * Zone: NORMAL.
 */
#ifndef PP_HOST_EXEC_TARGET_H
#define PP_HOST_EXEC_TARGET_H

#include <stdbool.h>

typedef enum pp_exec_verdict {
    PP_EXEC_ABSENT,  /* the exec will fail */
    PP_EXEC_OURS,    /* dynamically linked, for this machine and libc */
    PP_EXEC_STATIC,  /* without a loader that could preload anything */
    PP_EXEC_FOREIGN, /* for another machine, whose loader leaves out what it cannot preload */
    PP_EXEC_OTHER_LIBC, /* for another libc, whose loader refuses to start the program with this library */
    PP_EXEC_PRIVILEGED, /* set-user-id: its loader ignores LD_PRELOAD */
} pp_exec_verdict;

/* The arguments of execveat(): `path` NULL or "" means the file that is open as `folder`. With
 * `search`, a path without a slash is looked for along PATH, as execvp() does. */
typedef struct pp_exec_target {
    int folder;
    const char *path;
    bool search;
} pp_exec_target;

/* The verdict about a script is that about its interpreter. A file that cannot be read is
 * PP_EXEC_OURS. */
pp_exec_verdict pp_exec_inspect(const pp_exec_target *target);

#endif
