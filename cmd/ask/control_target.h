/* SPDX-License-Identifier: MIT
 *
 * control_target.h: finds the control socket of a process (docs/CONTROL.md), of any user and in any
 * namespaces.
 *
 * The kernel says which process listens on a socket, so that no other one can pretend to be it.
 */
#ifndef CP_CONTROL_TARGET_H
#define CP_CONTROL_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct cp_error cp_error;

typedef struct cp_target {
    int pid;
    int inner_pid;    /* as the process sees itself, in a namespace of its own */
    uid_t user;       /* the effective user */
    uid_t inner_user; /* as the process sees it */
    bool has_users;   /* in a user namespace of its own: it does not know root of this one */
    bool has_root;    /* other mounts than cpprof, or another root folder */
    bool hurries;     /* set by a caller that must not wait for a process that accepts nobody */
} cp_target;

/* What the environment says that the process was started with. The texts are to be freed; NULL:
 * nothing, or the environment cannot be read. */
typedef struct cp_target_environment {
    char *options;            /* LIBPPROF */
    char *runtime;            /* XDG_RUNTIME_DIR */
    char *service, *resource; /* OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES */
} cp_target_environment;

/* Describes a process. -1: there is none, or it is another user's and /proc hides it. */
int cp_target_read(int pid, cp_target *target, cp_error *error);

void cp_target_environment_read(const cp_target *target, cp_target_environment *environment);
void cp_target_environment_release(cp_target_environment *environment);

/* The value of a word of LIBPPROF; "" if it has none. NULL: the options do not have the word. The
 * caller frees it. */
char *cp_target_option(const char *options, const char *word);

/* Where the process serves HTTP, from the option's value: a port that was chosen is not known. The
 * caller frees it; NULL: nowhere. */
char *cp_target_http(const char *options);

/* The name of the program, as its arguments have it; "": none is known. The caller frees it. */
char *cp_target_program(int pid);

/* Opens the root folder of its files. A descriptor, or -1. */
int cp_target_root(const cp_target *target);

/* Whether the process may be asked by this user. */
bool cp_target_is_ours(const cp_target *target);

/* Connects to the control socket, and stores its path. Returns a descriptor, or -1 with a sentence
 * that begins with "pid:N: ". */
int cp_target_connect(const cp_target *target, char path[PATH_MAX], cp_error *error);

#endif
