/* SPDX-License-Identifier: MIT
 *
 * live_target.h: what the user has given to -p.
 *
 *   1234, pid:1234       a process of this machine, with a control socket
 *   1234/heap            its view `heap` first
 *   http://HOST:PORT     a server with /debug/pprof/; also https:// and unix:/SOCKET
 */
#ifndef CP_LIVE_TARGET_H
#define CP_LIVE_TARGET_H

#include <stddef.h>

typedef struct cp_error cp_error;

typedef struct cp_live_target {
    int pid;     /* 0: a server, maybe of another machine */
    char *root;  /* what its addresses begin with (source_root.h) */
    size_t view; /* the first one */
} cp_live_target;

/* Reads the text; `profile` is the one that the user wants, and `type` the sample type that the user wants, or NULL. Returns 0, or -1 with a
 * sentence; the target is to be released in both cases. */
int cp_live_target_read(const char *text, const char *profile, const char *type,
                        cp_live_target *target, cp_error *error);
void cp_live_target_release(cp_live_target *target);

/* The command and the number of the process, or the address of the server; to be freed. */
char *cp_live_target_name(const cp_live_target *target);

#endif
