/* SPDX-License-Identifier: MIT
 *
 * exec_target.h: the program that the host is about to execute: whether it is there, and whether
 * this library can be preloaded into it.
 *
 * Zone: NORMAL.
 */
#ifndef PP_HOST_EXEC_TARGET_H
#define PP_HOST_EXEC_TARGET_H

#include <stdbool.h>

typedef enum pp_exec_verdict {
    PP_EXEC_ABSENT,     /* the exec will fail */
    PP_EXEC_OURS,       /* dynamically linked, for this machine and libc */
    PP_EXEC_STATIC,     /* has no loader that could preload anything */
    PP_EXEC_FOREIGN,    /* for another machine or libc */
    PP_EXEC_PRIVILEGED, /* set-user-id: its loader ignores us */
} pp_exec_verdict;

/* As the arguments of execveat(): `path` NULL or "" means `folder` itself. With `search`, a path
 * without a slash is looked for along PATH, as execvp() does. A script counts as its interpreter
 * does. */
typedef struct pp_exec_target {
    int folder;
    const char *path;
    bool search;
} pp_exec_target;

/* What cannot be read is taken for ours. */
pp_exec_verdict pp_exec_inspect(const pp_exec_target *target);

#endif
