/* SPDX-License-Identifier: MIT
 *
 * collectors.h: pushes the profiles of all processes to a server.
 *
 *   process --(each interval, one connection)--> status, cpu, heap, block ... --> tally --> sender
 *      '-----(at its end)--> files in STATE/last/USER/ ------------------------> tally --^
 *
 * A profile that accumulates is read as it is, and the agent knows what of it was pushed: so what is pushed adds up to
 * the last profile, over restarts of the agent and of the program. Nobody else's differences are touched.
 *
 * What is known is in RUN/PID-START-LOADED.tally, written after each round, before anything of it is pushed: another agent
 * goes on from there.
 *
 * Owns: a thread that sends; everything of each process's collection; the folder.
 */
#ifndef CP_AGENT_COLLECTORS_H
#define CP_AGENT_COLLECTORS_H

#include "agent/loop.h"
#include "agent/processes.h"

#include "push/push.h"

typedef struct cp_error cp_error;
typedef struct cp_collectors cp_collectors;

typedef struct cp_collect_options {
    push_settings server; /* but for the spool, which is in the state */
    const char *state;    /* a folder; NULL: the usual one */
    const char *record;   /* options of LIBPPROF for each process; "": leave it as it is */
    double interval;      /* seconds */
    /* Opens the sender; NULL: push_open() does. */
    int (*open)(const push_settings *settings, push_sender **sender, char why[PUSH_WHY_BYTES]);
} cp_collect_options;

/* Begins to collect from each process that appears. NULL, with a sentence. */
cp_collectors *cp_collectors_begin(cp_loop *loop, cp_processes *processes,
                                   const cp_collect_options *options, cp_error *error);

/* Ends. What was not sent stays in the spool. NULL is allowed. */
void cp_collectors_end(cp_collectors *all);

#endif
