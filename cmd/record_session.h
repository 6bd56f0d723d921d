/* SPDX-License-Identifier: MIT
 *
 * record_session.h: what surrounds a recorded command: the preloaded library, a private folder into
 * which the processes write, the environment that tells them so, and the profile made of it.
 *
 *   out/DIR/FILE          the profile, one for each kind (record_kinds.h)
 *   out/DIR/.cpprof-XXXX/ PID.KIND.PROGRAM.N.pb.gz, one for each process and kind; removed at the end
 *
 * Owns: the folder and everything in it.
 */
#ifndef CPPROF_RECORD_SESSION_H
#define CPPROF_RECORD_SESSION_H

#include "record_kinds.h"

#include <stdbool.h>
#include <sys/types.h>

struct pp_error;
struct pp_profile;

struct pp_record_options {
    struct pp_record_kinds kinds;
    const char *output; /* see pp_record_kind_output() */
    long hz;
    long duration_ms;   /* 0: until the end */
    const char *engine; /* NULL: whatever the library takes */
    bool subprocesses;
};

struct pp_session {
    const struct pp_record_options *options;
    char *library; /* as LD_PRELOAD can name it */
    char *folder;
    char **environment; /* the command's; NULL-terminated */
    char *outputs[PP_RECORD_KINDS_MAX];
    unsigned processes; /* how many wrote a profile, after pp_session_collect() */
};

/* Finds the library, makes the folder and the environment. Returns 0 or -1 with a sentence. */
int pp_session_open(struct pp_session *session, const struct pp_record_options *options,
                    struct pp_error *error);

/*
 * Reads what the command (with `subprocesses`: every process) wrote of a kind, and puts it where the
 * options want it. Returns 0 and the profile in *out, to be freed; NULL if there was none. -1 with a
 * sentence if it cannot be written.
 */
int pp_session_collect(struct pp_session *session, size_t kind, pid_t command,
                       struct pp_profile **out, struct pp_error *error);

/* Removes the folder. */
void pp_session_close(struct pp_session *session);

#endif
