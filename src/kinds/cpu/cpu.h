/* SPDX-License-Identifier: MIT
 *
 * cpu.h: the CPU profile of the process: start, stop, and what was collected.
 *
 * Zone: NORMAL. pp_cpu_stop also serves the fatal-signal writer.
 * Locks: callers are serialised by the session lock of cpu_control.c.
 * Owns: the running session (cpu_session.h).
 */
#ifndef PP_KINDS_CPU_CPU_H
#define PP_KINDS_CPU_CPU_H

#include "kinds/cpu/cpu_session.h"

#include <stdbool.h>
#include <stdint.h>

/* A finished session; the tables are the caller's. */
typedef struct pp_cpu_result {
    pp_stack_counts *counts;
    pp_label_cells *labels; /* may be NULL */
    uint64_t period_ns;
    int64_t time_ns; /* wall clock at the start */
    int64_t duration_ns;
    pp_stops stops;
    uintptr_t first_without_rule; /* where the first PP_STOP_NO_RULE was, return-like; 0 = none */
    uint64_t lost;                /* not in the counts: table full, no scratch, no room */
    uint64_t lost_no_room;        /* of these: on an alternate stack that is too small */
    uint64_t lost_not_delivered;  /* in the counts, as lost samples */
    uint64_t settled;
    uint64_t threads_armed, threads_unarmed;
    bool perf_wanted; /* the engine `perf` was asked for; what became of it: */
    int event_error;  /* why events were refused, -errno */
    uint64_t events_armed, events_refused, events_closed;
    bool handler_replaced;   /* somebody put another handler on the signal, past libc */
    bool handlers_in_flight; /* one did not come back: the counts stay the session's */
} pp_cpu_result;

typedef enum pp_cpu_engine_choice { PP_CPU_TIMERS, PP_CPU_PERF } pp_cpu_engine_choice;

/*
 * Starts sampling every thread at one sample in `period_ns` of its CPU time; `duration_ns` after
 * which samples are no longer taken, 0 = until the stop. PP_CPU_PERF is a wish: threads whose perf
 * event is refused are sampled by timers. 0, -ENOMEM, -EAGAIN (no timer could be armed), -EPERM (a
 * seccomp filter is in the way), -EBUSY (the handlers of several sessions did not come back).
 */
int pp_cpu_start(uint64_t period_ns, uint64_t duration_ns, pp_cpu_engine_choice choice);

/* Stops sampling; `patience_ns` is how long to wait for handlers on other threads. */
void pp_cpu_stop(uint64_t patience_ns, pp_cpu_result *result);

void pp_cpu_result_release(pp_cpu_result *result);

/* In the child of fork: the session is gone, it stayed with the parent. */
void pp_cpu_after_fork_in_child(void);

#endif
