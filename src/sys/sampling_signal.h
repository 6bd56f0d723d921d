/* SPDX-License-Identifier: MIT
 *
 * sampling_signal.h: the signal of the library's timers and perf events, and its action, without
 * libc.
 *
 * The signal is the one by which libc cancels threads (libc/signals.h). libc reserves it: sigfillset()
 * leaves it out, the functions that change masks never block it, and sigaction() refuses it. So a
 * host cannot block it, wait for it, find it pending or install a handler for it. SIGPROF, which
 * other profilers use, stays the host's own: handler, flags, mask and all (docs/SIGNALS.md).
 *
 * libc's own uses keep working:
 *
 *   pthread_cancel()   sends it with tgkill (SI_TKILL) to a thread with asynchronous cancellation, musl to every thread.
 *                      Its first call installs libc's handler. Our handler passes such signals on
 *                      (host/sampling_handler.c), and is installed again after each call
 *                      (host/cancel.c).
 *   SIGEV_THREAD       a thread of glibc blocks the signal and waits for it with sigwaitinfo. The
 *                      library arms no timer for a thread that blocks it (kinds/cpu/cpu_threads.c).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_SAMPLING_SIGNAL_H
#define PP_SYS_SAMPLING_SIGNAL_H

#include "arch/system_call.h"
#include "libc/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PP_SAMPLING_SIGNAL_TEXT PP_CANCEL_SIGNAL_TEXT

enum {
    PP_SAMPLING_SIGNAL = PP_CANCEL_SIGNAL,
    PP_STATUS_OF_SIGNAL = 128 /* shells add this to the signal that ended a process */
};

/* The kernel's struct sigaction. */
typedef struct pp_signal_action {
    void (*handler)(int, siginfo_t *, void *);
    uint64_t flags;
    void (*restorer)(void);
    uint64_t mask;
} pp_signal_action;

/* Does what sigaction(2) does; `action` or `old` may be NULL. False if the kernel refuses. */
static inline bool pp_signal_action_change(int signal, const pp_signal_action *action,
                                           pp_signal_action *old)
{
    return pp_system_call(SYS_rt_sigaction, signal, action, old, sizeof action->mask) == 0;
}

/* Whether the kernel takes the default action. */
static inline bool pp_signal_action_is_default(const pp_signal_action *action)
{
    return (uintptr_t)action->handler == (uintptr_t)SIG_DFL;
}

static inline bool pp_signal_action_is_ignored(const pp_signal_action *action)
{
    return (uintptr_t)action->handler == (uintptr_t)SIG_IGN;
}

#endif
