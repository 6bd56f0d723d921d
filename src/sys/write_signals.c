/* SPDX-License-Identifier: MIT
 *
 * write_signals.c: holds SIGPIPE and SIGXFSZ back.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.output
 */
#include "sys/write_signals.h"

#include "arch/system_call.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

static const uint64_t both = BIT(SIGPIPE) | BIT(SIGXFSZ);

static uint64_t pending_now(void)
{
    uint64_t pending = 0;
    pp_system_call(SYS_rt_sigpending, &pending, sizeof pending);
    return pending & both;
}

void pp_write_signals_hold(pp_write_signals *held)
{
    held->pending = pending_now();
    held->mask = 0;
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &both, &held->mask, sizeof both);
}

void pp_write_signals_release(const pp_write_signals *held)
{
    const struct timespec at_once = {0};
    uint64_t ours = pending_now() & ~held->pending;
    while (ours != 0) {
        if (pp_system_call(SYS_rt_sigtimedwait, &ours, NULL, &at_once, sizeof ours) < 0) {
            break;
        }
        ours = pending_now() & ~held->pending;
    }
    pp_system_call(SYS_rt_sigprocmask, SIG_SETMASK, &held->mask, NULL, sizeof held->mask);
}
