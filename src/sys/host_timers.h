/* SPDX-License-Identifier: MIT
 *
 * host_timers.h: keeps the host's timers from ending the process while the library writes a
 * profile.
 *
 * Programs leave ITIMER_PROF running when they end, and its handler is gone by then: an interpreter
 * removes its handlers, and the rest of exit() takes less than a tick. Writing a profile takes
 * longer, and takes CPU time, which ITIMER_PROF and ITIMER_VIRTUAL measure. This file stops both
 * timers meanwhile; afterwards they continue with the time that was left. It also blocks all
 * signals of the thread meanwhile.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_HOST_TIMERS_H
#define PP_SYS_HOST_TIMERS_H

#include "arch/system_call.h"
#include "sys/signal_mask.h"

#include <stddef.h>
#include <sys/time.h>

typedef struct pp_host_timers {
    struct itimerval all_time, user_time; /* of the process */
    pp_signal_mask mask;                  /* of the thread */
} pp_host_timers;

static inline void pp_host_timers_hold(pp_host_timers *held)
{
    const struct itimerval off = {.it_value = {.tv_sec = 0}};
    pp_signals_block(&held->mask);
    pp_system_call(SYS_setitimer, ITIMER_PROF, &off, &held->all_time);
    pp_system_call(SYS_setitimer, ITIMER_VIRTUAL, &off, &held->user_time);
}

static inline void pp_host_timers_release(const pp_host_timers *held)
{
    pp_system_call(SYS_setitimer, ITIMER_PROF, &held->all_time, NULL);
    pp_system_call(SYS_setitimer, ITIMER_VIRTUAL, &held->user_time, NULL);
    pp_signals_restore(&held->mask);
}

#endif
