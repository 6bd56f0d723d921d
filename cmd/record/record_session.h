/* SPDX-License-Identifier: MIT
 *
 * record_session.h: the surroundings of a recorded command: the preloaded library; the socket on
 * which the processes send their profiles; a private folder for the files of processes that closed
 * the socket; the environment with the library's options; and the profiles that the parts make up.
 *
 *   out/DIR/FILE          the profile, one for each kind (record_kinds.h)
 *   out/DIR/.cpprof-XXXX/ files of processes without the socket (record_parts.h), until the end
 *
 * cpprof has the folder locked while it lives. The next recording removes a folder without a lock:
 * a cpprof that was killed left it.
 *
 * Owns: the folder and everything in it, the socket, and the parts that arrived.
 */
#ifndef CP_RECORD_SESSION_H
#define CP_RECORD_SESSION_H

#include "record/record_kinds.h"
#include "record/record_parts.h"
#include "record/record_socket.h"
#include "record/record_tree.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

typedef struct cp_record_options {
    cp_record_kinds kinds;
    const char *output; /* for cp_record_kind_output() */
    long hz;
    long duration_ms;   /* 0: until the end */
    const char *engine; /* NULL: the library's default */
    bool alone;         /* the first process; else the others, too, with the label `process` */
    bool pid_label;     /* and the label `pid` */
    bool thread_label;  /* wall has the label `thread` */
} cp_record_options;

typedef struct cp_session {
    const cp_record_options *options;
    char *library; /* a path that LD_PRELOAD can name */
    char *folder;
    int lock; /* the folder's descriptor, locked; or -1 */
    cp_record_socket socket;
    cp_parts parts;     /* the profiles that arrived so far */
    cp_tree tree;       /* the processes that told what they do */
    char **environment; /* the command's; NULL-terminated */
    char *outputs[CP_RECORD_KINDS_MAX];
    unsigned processes; /* how many wrote the last profile of cp_session_collect() */
} cp_session;

/* Finds the library, and makes the folder, the socket and the environment. Returns 0, or -1 with a
 * sentence. */
int cp_session_open(cp_session *session, const cp_record_options *options, cp_error *error);

/* Takes the rest from the socket and the folder, after the command has ended. A process that is
 * about to end, too, has a moment for it. */
void cp_session_take_rest(cp_session *session);

/* Writes the profile of a kind to its output: the profile of the command, or the sum over all
 * processes. Returns 0 and the profile in *out, to be freed; *out is NULL if there was
 * none. Returns -1 with a sentence if it cannot be written. */
int cp_session_collect(cp_session *session, size_t kind, pid_t command, cp_profile **out,
                       cp_error *error);

/* Removes the folder, and frees the rest. */
void cp_session_close(cp_session *session);

#endif
