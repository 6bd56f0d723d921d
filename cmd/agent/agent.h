/* SPDX-License-Identifier: MIT
 *
 * agent.h: one process for a whole host, which finds the processes that can be asked for profiles,
 * serves them under one address, and pushes their profiles (docs/FLEET.md).
 */
#ifndef CP_AGENT_AGENT_H
#define CP_AGENT_AGENT_H

typedef struct cp_collect_options cp_collect_options;
typedef struct cp_error cp_error;

typedef struct cp_agent_options {
    const char *listen;     /* an address, or NULL: it serves nobody */
    const char *token_file; /* has the token that clients must show, or NULL */
    const char *only;       /* matches the commands of the processes that count; NULL: all do */
    const char *attach;     /* matches those that are attached to; NULL: none is */
    const char *record;     /* what these record then, as in LIBPPROF */
    const cp_collect_options *collect; /* NULL: nothing is pushed */
} cp_agent_options;

/* Runs until SIGTERM or SIGINT. Returns 0, or -1 with a sentence. */
int cp_agent_run(const cp_agent_options *options, cp_error *error);

#endif
