/* SPDX-License-Identifier: MIT
 *
 * sampling_signal.h: the signal that our timers and perf events send, and its action past libc.
 *
 * The signal is 32, the first of the kernel's real-time signals. libc keeps it for itself: it is
 * not in the sets that sigfillset() makes, the functions that change masks never block it,
 * sigaction() refuses it. A host therefore cannot block it, wait for it, find it pending or put a
 * handler on it, and SIGPROF, which profilers used to take, stays the host's own: handler, flags,
 * mask and all (docs/SIGNALS.md).
 *
 * glibc uses 32 in two ways, and both go on beside us:
 *
 *   pthread_cancel()   sends it with tgkill (SI_TKILL) to a thread whose cancellation is asynchronous.
 *                      Its handler is installed by the first call. Our handler passes such signals on
 *                      (kinds/cpu/cpu_signal.c), and takes the action back after each call
 *                      (host/cancel.c).
 *   SIGEV_THREAD       a thread of glibc's waits for it with sigwaitinfo, and blocks it. No timer is
 *                      armed for a thread that blocks it (kinds/cpu/cpu_threads.c).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_SAMPLING_SIGNAL_H
#define PP_SYS_SAMPLING_SIGNAL_H

#include "arch/system_call.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_SAMPLING_SIGNAL = 32,
    PP_STATUS_OF_SIGNAL = 128 /* what shells add to the signal that ended a process */
};

/* The kernel's struct sigaction. */
typedef struct pp_signal_action {
    void (*handler)(int, siginfo_t *, void *);
    uint64_t flags;
    void (*restorer)(void);
    uint64_t mask;
} pp_signal_action;

/* What sigaction(2) does; either may be NULL. False if the kernel refuses. */
static inline bool pp_signal_action_change(int signal, const pp_signal_action *action,
                                           pp_signal_action *old)
{
    return pp_system_call(SYS_rt_sigaction, signal, action, old, sizeof action->mask) == 0;
}

/* Whether the kernel itself acts: the default action, or none. */
static inline bool pp_signal_action_is_default(const pp_signal_action *action)
{
    return (uintptr_t)action->handler == (uintptr_t)SIG_DFL;
}

static inline bool pp_signal_action_is_ignored(const pp_signal_action *action)
{
    return (uintptr_t)action->handler == (uintptr_t)SIG_IGN;
}

#endif
