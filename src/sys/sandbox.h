/* SPDX-License-Identifier: MIT
 *
 * sandbox.h: tests whether a seccomp filter permits the library's calls, without risking a kill.
 *
 * Containers run under filters that refuse forbidden calls with an error; some services run under
 * filters that kill. If the process is under any filter, a child tries the calls that the sampler
 * needs. The child shares the library's memory, if the kernel is not old, and has no exit signal (the host's
 * wait() and SIGCHLD do not notice it); a filter that kills ends only the child.
 *
 * Zone: NORMAL.
 */
#ifndef PP_SYS_SANDBOX_H
#define PP_SYS_SANDBOX_H

#include <stdbool.h>

typedef enum pp_sandbox {
    PP_SANDBOX_NONE,    /* no filter, or one that permits all the calls */
    PP_SANDBOX_NO_COPY, /* all but process_vm_readv */
    PP_SANDBOX_REFUSES  /* timers are refused, or creating one is fatal */
} pp_sandbox;

/* Tries the calls once in a process, and keeps the answer. Permits pp_apart() (sys/apart.h) what it
 * needs, if it works. */
pp_sandbox pp_sandbox_probe(void);

/* Whether there was any filter then: calls that were not tried may end the process. */
bool pp_sandbox_has_filter(void);

/* Tries perf events: 0 without a filter or under one that permits them, else -errno. */
int pp_sandbox_probe_perf(void);

/* Tries, once in a process, the calls by which the library asks the kernel for mappings and pages
 * (modules/code_query.h), and those of sys/beside.h: none of them ends the process. False where other
 * calls are refused. */
bool pp_sandbox_permits_questions(void);

/* Tries the calls by which a process looks at what it executes, and tells `cpprof record` what it does. */
bool pp_sandbox_permits_recorder(void);

/* Tries the calls by which the process shows what it is to readers outside (store/process_context.h). */
bool pp_sandbox_permits_context(void);

/* A thread of the process that is under more filters than the caller; 0: none. They cannot be
 * tried. */
int pp_sandbox_filtered_thread(void);

#endif
