/* SPDX-License-Identifier: MIT
 *
 * cpu_control.h: the one CPU profile of the process, whoever started it.
 *
 * Zone: NORMAL; stop also serves the fatal-signal writer.
 * Locks: the session lock, held while a profile starts, stops and is written. First in the order.
 * Owns: the state "a profile runs" and where it will go.
 */
#ifndef PP_KINDS_CPU_CPU_CONTROL_H
#define PP_KINDS_CPU_CPU_CONTROL_H

#include "pprof.h"

#include <stdbool.h>
#include <stdint.h>

/* What a profile becomes when it stops. */
typedef struct pp_cpu_request {
    int hz;
    int engine;           /* PPROF_ENGINE_* */
    int format;           /* PPROF_FORMAT_* */
    uint64_t duration_ns; /* 0 = until the stop */
    bool to_file;         /* through output.h instead of the writer */
    pprof_writer writer;
} pp_cpu_request;

/* The errors of pprof_start_cpu_profile_opts(). */
int pp_cpu_control_start(const pp_cpu_request *request);

/*
 * Stops and writes; 0 if none ran. `only_file`: the process ends; leave a profile alone that the
 * host started with a writer of its own, and wait for others with a limit. `fatal`: called from a
 * fatal signal's handler: do not wait long for anybody, do not ask the loader.
 */
int pp_cpu_control_stop(bool only_file, bool fatal);

/* Whether one runs, whoever started it. */
bool pp_cpu_control_is_running(void);

/* In the child of fork: nothing runs here. */
void pp_cpu_control_after_fork(void);

#endif
