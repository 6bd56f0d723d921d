/* SPDX-License-Identifier: MIT
 *
 * masks.c: pthread_sigmask and sigprocmask, as far as SIGPROF is concerned.
 *
 * Many programs block all signals in their worker threads, so that one thread can deal with them
 * (xz -T, most servers). They do not mean the profiler. While the host has no use for SIGPROF
 * itself, it stays open to our timers: the host is told that it is blocked, as it asked for. A host
 * with a handler of its own for SIGPROF gets what it asks for, and its CPU time while it blocks the
 * signal shows as lost.
 *
 * Zone: HOOK. Both may be called from the host's signal handlers.
 * Locks: none.
 * Owns: nothing; the thread's flag is in sample/cpu_signal.c.
 */
#include "hook/process.h"

#include "hook/real.h"
#include "sample/cpu_signal.h"

#include <errno.h>
#include <signal.h>

typedef int mask_function(int, const sigset_t *, sigset_t *);

static void *real_pthread_sigmask;
static void *real_sigprocmask;

/* What the host believes after a successful call. */
static bool believed_after(int how, bool in_set, bool before)
{
    switch (how) {
    case SIG_BLOCK:
        return before || in_set;
    case SIG_UNBLOCK:
        return before && !in_set;
    default:
        return in_set;
    }
}

static int change(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    if (!pp_cpu_signal_must_be_open() || !pp_hook_is_owner()) {
        return real(how, set, old);
    }
    bool before = pp_cpu_signal_host_blocks();
    bool after = before;
    const sigset_t *wanted = set;
    sigset_t without;
    if (set != NULL) {
        bool in_set = sigismember(set, SIGPROF) == 1;
        after = believed_after(how, in_set, before);
        if (in_set && how != SIG_UNBLOCK) {
            without = *set;
            sigdelset(&without, SIGPROF);
            wanted = &without;
        }
    }
    int result = real(how, wanted, old);
    if (result == 0) {
        pp_cpu_signal_set_host_blocks(after);
        if (old != NULL && before) {
            sigaddset(old, SIGPROF);
        }
    }
    return result;
}

/* libc's header has its own names for these. */
__attribute__((visibility("default"))) int
pthread_sigmask(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
                int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    mask_function *real = (mask_function *)pp_real(&real_pthread_sigmask, "pthread_sigmask");
    return real != NULL ? change(real, how, set, old) : ENOSYS;
}

__attribute__((visibility("default"))) int
sigprocmask(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
            int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    mask_function *real = (mask_function *)pp_real(&real_sigprocmask, "sigprocmask");
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    return change(real, how, set, old);
}

void pp_hook_masks_init(void)
{
    pp_real(&real_pthread_sigmask, "pthread_sigmask");
    pp_real(&real_sigprocmask, "sigprocmask");
}
