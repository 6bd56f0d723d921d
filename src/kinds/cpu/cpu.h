/* SPDX-License-Identifier: MIT
 *
 * cpu.h: starts and stops the CPU sampler of the process, and returns what a session has counted.
 *
 * Zone: NORMAL. The fatal-signal writer calls pp_cpu_stop(), too.
 * Locks: callers hold the session lock of cpu_control.c.
 * Owns: the running session (cpu_session.h).
 */
#ifndef PP_KINDS_CPU_CPU_H
#define PP_KINDS_CPU_CPU_H

#include "kinds/cpu/cpu_session.h"

#include <stdbool.h>
#include <stdint.h>

/* A finished session. The caller owns the tables, and calls pp_cpu_result_release(). */
typedef struct pp_cpu_result {
    pp_stack_counts *counts;
    pp_label_cells *labels;   /* may be NULL */
    pp_stack_counts *latency; /* may be NULL: cpu_session.h */
    pp_cpu_facts facts;
    int64_t duration_ns;
    bool perf_wanted;        /* the session's engine is `perf` */
    bool handler_replaced;   /* the program has set another handler for the signal, past libc */
    uint64_t starts_refused; /* of profiles by the program, while this one ran */
    bool ended_by_program;   /* it stopped a profile that it had not started */
    bool handlers_in_flight; /* a handler did not come back: the session keeps the tables */
} pp_cpu_result;

typedef enum pp_cpu_engine_choice { PP_CPU_TIMERS, PP_CPU_PERF } pp_cpu_engine_choice;

/*
 * Starts to sample every thread, once in each `period_ns` of its CPU time. Takes no samples after
 * `duration_ns`; 0 = until the stop. PP_CPU_PERF is a wish: timers sample the threads whose perf
 * event is refused. 0, -ENOMEM, -EAGAIN (no timer could be armed), -EPERM (a seccomp filter forbids
 * it), -EBUSY (the handlers of several sessions did not come back).
 */
int pp_cpu_start(uint64_t period_ns, uint64_t duration_ns, pp_cpu_engine_choice choice);

/* Fills `result` with what the running session has counted so far. The session keeps the tables. */
void pp_cpu_peek(pp_cpu_result *result);

/* Stops sampling, and fills `result`. Waits at most `patience_ns` for handlers on other threads. */
void pp_cpu_stop(uint64_t patience_ns, pp_cpu_result *result);

void pp_cpu_result_release(pp_cpu_result *result);

/* Ends the session in the child of fork: it goes on in the parent only. */
void pp_cpu_after_fork_in_child(void);

#endif
