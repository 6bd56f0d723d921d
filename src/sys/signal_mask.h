/* SPDX-License-Identifier: MIT
 *
 * signal_mask.h: the calling thread's signal mask, without libc.
 *
 * libc's functions never block its own two signals. The first is the signal of our timers and of
 * asynchronous cancellation (sys/sampling_signal.h): neither may interrupt our critical sections,
 * so this file blocks it. The one of a setuid() in all threads stays unblocked: a thread that
 * blocked it would hang a setuid() of the host.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_SIGNAL_MASK_H
#define PP_SYS_SIGNAL_MASK_H

#include "arch/system_call.h"
#include "libc/signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of signals in the kernel's form. */
typedef uint64_t pp_signal_mask;

static inline pp_signal_mask pp_signal_bit(int signal)
{
    return UINT64_C(1) << (signal - 1);
}

/* Blocks all signals except that of setuid(); *old is the mask for pp_signals_restore(). */
static inline void pp_signals_block(pp_signal_mask *old)
{
    const pp_signal_mask all = ~pp_signal_bit(PP_SETUID_SIGNAL);
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, old, sizeof all);
}

static inline bool pp_signal_is_blocked(int signal)
{
    pp_signal_mask blocked = 0;
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    return (blocked & pp_signal_bit(signal)) != 0;
}

static inline void pp_signals_restore(const pp_signal_mask *old)
{
    pp_system_call(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof *old);
}

#endif
