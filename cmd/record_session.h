/* SPDX-License-Identifier: MIT
 *
 * record_session.h: what surrounds a recorded command: the preloaded library, the socket on which
 * the processes send their profiles, a private folder for those that have closed it, the
 * environment that tells them so, and the profile made of what arrives.
 *
 *   out/DIR/FILE          the profile, one for each kind (record_kinds.h)
 *   out/DIR/.cpprof-XXXX/ files of processes without the socket (record_parts.h); removed at the
 * end
 *
 * While cpprof lives it has the folder locked. So the next recording knows a folder that a killed
 * cpprof left behind, and removes it.
 *
 * Owns: the folder and everything in it; the socket; what has arrived.
 */
#ifndef CP_RECORD_SESSION_H
#define CP_RECORD_SESSION_H

#include "record_kinds.h"
#include "record_parts.h"
#include "record_socket.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

typedef struct cp_record_options {
    cp_record_kinds kinds;
    const char *output; /* see cp_record_kind_output() */
    long hz;
    long duration_ms;   /* 0: until the end */
    const char *engine; /* NULL: whatever the library takes */
    bool subprocesses;
} cp_record_options;

typedef struct cp_session {
    const cp_record_options *options;
    char *library; /* as LD_PRELOAD can name it */
    char *folder;
    int lock; /* the folder's descriptor, locked; or -1 */
    cp_record_socket socket;
    cp_parts parts;     /* what has arrived */
    char **environment; /* the command's; NULL-terminated */
    char *outputs[CP_RECORD_KINDS_MAX];
    unsigned processes; /* how many wrote a profile, after cp_session_collect() */
} cp_session;

/* Finds the library, makes the folder and the environment. Returns 0 or -1 with a sentence. */
int cp_session_open(cp_session *session, const cp_record_options *options, cp_error *error);

/* Once the command has ended: takes what is left on the socket and in the folder. */
void cp_session_take_rest(cp_session *session);

/*
 * Reads what the command (with `subprocesses`: every process) wrote of a kind, and puts it where
 * the options want it. Returns 0 and the profile in *out, to be freed; NULL if there was none. -1
 * with a sentence if it cannot be written.
 */
int cp_session_collect(cp_session *session, size_t kind, pid_t command, cp_profile **out,
                       cp_error *error);

/* Removes the folder. */
void cp_session_close(cp_session *session);

#endif
