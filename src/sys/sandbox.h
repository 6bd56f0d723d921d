/* SPDX-License-Identifier: MIT
 *
 * sandbox.h: finds out whether a seccomp filter lets us work, without being killed by it.
 *
 * Containers run under filters that answer forbidden calls with an error; some services run under
 * filters that kill. When the process is under a filter at all, the calls that the sampler needs
 * are tried in a child that shares our memory, has no exit signal (the host's wait() and SIGCHLD do
 * not notice it) and dies alone.
 *
 * Zone: NORMAL.
 */
#ifndef PP_SYS_SANDBOX_H
#define PP_SYS_SANDBOX_H

typedef enum pp_sandbox {
    PP_SANDBOX_NONE,    /* no filter, or one that lets all of it through */
    PP_SANDBOX_NO_COPY, /* all but process_vm_readv */
    PP_SANDBOX_REFUSES  /* timers cannot be had, or asking for them is deadly */
} pp_sandbox;

/* Asked once a process; the answer is remembered. */
pp_sandbox pp_sandbox_probe(void);

/* The same for perf events: 0 without a filter or under one that lets them through, else -errno. */
int pp_sandbox_probe_perf(void);

#endif
