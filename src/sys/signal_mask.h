/* SPDX-License-Identifier: MIT
 *
 * signal_mask.h: the calling thread's signal mask, past libc.
 *
 * pthread_sigmask is hooked (hook/masks.c); our own critical sections must not be taken for the
 * host's. libc's own two signals (32 cancels, 33 is setuid in all threads) are never blocked: a
 * thread that blocked the second would hang a setuid() of the host.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_SYS_SIGNAL_MASK_H
#define PP_SYS_SIGNAL_MASK_H

#include "arch/system_call.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* A set of signals in the kernel's form. */
typedef uint64_t pp_signal_mask;

static inline pp_signal_mask pp_signal_bit(int signal)
{
    return UINT64_C(1) << (signal - 1);
}

/* Blocks all signals; *old is what to restore. */
static inline void pp_signals_block(pp_signal_mask *old)
{
    const pp_signal_mask all = ~(pp_signal_bit(32) | pp_signal_bit(33));
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &all, old, sizeof all);
}

static inline void pp_signals_restore(const pp_signal_mask *old)
{
    pp_system_call(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof *old);
}

#endif
