/* SPDX-License-Identifier: MIT
 *
 * attacher.h: makes processes reachable that have no control socket, one after the other.
 *
 * Attaching waits for the process, which may be stopped or hostile. So another process does it,
 * `cpprof configure PID OPTIONS`, and has a time limit.
 *
 * Owns: that process.
 */
#ifndef CP_AGENT_ATTACHER_H
#define CP_AGENT_ATTACHER_H

#include "agent/loop.h"

#include <stdbool.h>

typedef struct cp_attacher {
    cp_loop *loop;
    const char *options; /* what the process records then; as in LIBPPROF */
    cp_loop_source child;
    int child_pid; /* 0: there is none */
} cp_attacher;

void cp_attacher_init(cp_attacher *attacher, cp_loop *loop, const char *options);

/* Begins to attach to a process. False: another one has its turn. What goes wrong is on stderr. */
bool cp_attacher_begin(cp_attacher *attacher, int pid);

/* Ends what goes on. */
void cp_attacher_end(cp_attacher *attacher);

#endif
