/* SPDX-License-Identifier: MIT
 *
 * sigpipe.c: SIGPIPE is sent to the thread that writes, so blocking it there is enough.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "sys/sigpipe.h"

#include "arch/system_call.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

static bool is_pending(void)
{
    sigset_t pending;
    sigemptyset(&pending);
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void pp_sigpipe_hold(pp_sigpipe *held)
{
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    held->pending = is_pending();
    pthread_sigmask(SIG_BLOCK, &pipe_only, &held->mask);
}

void pp_sigpipe_release(const pp_sigpipe *held)
{
    if (!held->pending && is_pending()) {
        const struct timespec at_once = {0};
        uint64_t pipe_only = UINT64_C(1) << (SIGPIPE - 1); /* the kernel's form of a signal set */
        pp_system_call(SYS_rt_sigtimedwait, &pipe_only, NULL, &at_once, sizeof pipe_only);
    }
    pthread_sigmask(SIG_SETMASK, &held->mask, NULL);
}
