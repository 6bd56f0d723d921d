/* SPDX-License-Identifier: MIT
 *
 * sigpipe.h: writing to a pipe that nobody reads, without the host dying of it.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_SYS_SIGPIPE_H
#define PP_SYS_SIGPIPE_H

#include <signal.h>
#include <stdbool.h>

typedef struct pp_sigpipe {
    sigset_t mask; /* of the thread, before */
    bool pending;  /* one was there already: it is the host's */
} pp_sigpipe;

/* Keeps SIGPIPE from the calling thread until release, which also takes back one that we caused. */
void pp_sigpipe_hold(pp_sigpipe *held);
void pp_sigpipe_release(const pp_sigpipe *held);

#endif
