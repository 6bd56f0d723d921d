/* SPDX-License-Identifier: MIT
 *
 * cpu_control.h: the one CPU profile of the process, which the program, its user or an environment
 * variable may have started.
 *
 * Zone: NORMAL; the fatal-signal writer calls pp_cpu_control_stop(), too.
 * Locks: the session lock, held while a profile starts, stops and is written. First in the order.
 * Owns: whether a profile runs, and where it will be written.
 */
#ifndef PP_KINDS_CPU_CPU_CONTROL_H
#define PP_KINDS_CPU_CPU_CONTROL_H

#include "kinds/cpu/cpu.h"

#include "pprof.h"

#include <stdbool.h>
#include <stdint.h>

/* How to sample, and where the profile is written when it stops. */
typedef struct pp_cpu_request {
    int hz;
    int engine;           /* PPROF_ENGINE_* */
    int format;           /* PPROF_FORMAT_* */
    uint64_t duration_ns; /* 0 = until the stop */
    bool to_file;         /* to the file of output/output.h instead of the writer */
    pprof_writer writer;
} pp_cpu_request;

/* Starts a profile. The errors are those of pprof_start_cpu_profile_opts(). */
int pp_cpu_control_start(const pp_cpu_request *request);

/*
 * Stops the profile and writes it. 0, also if none ran, or -errno. `only_file`: the process ends,
 * so a profile that the host has started with a writer of its own goes on, and the wait for another
 * thread is limited. `fatal`: the caller is the handler of a fatal signal, so the waits are short,
 * and the loader is not called.
 */
int pp_cpu_control_stop(bool only_file, bool fatal);

/* Whether a profile runs. */
bool pp_cpu_control_is_running(void);

/*
 * A shared profile has several users, each for a time of its own (cpu_share.c). The first joins at
 * `hz` samples a second, and the sampler stops when the last leaves.
 *
 * `look` is called, if it is not NULL, with what was counted since the first user joined: when the
 * user joins, if that is not the first, and when it leaves. It returns 0 or -errno; when a user
 * joins, an error takes it back. The session lock is held meanwhile. pp_cpu_control_join() returns
 * also what pp_cpu_control_start() does: -EBUSY while a profile runs that is not shared.
 */
typedef int pp_cpu_look(const pp_cpu_result *result, void *context);
int pp_cpu_control_join(int hz, pp_cpu_look *look, void *context);
int pp_cpu_control_leave(pp_cpu_look *look, void *context);

/* Calls `look` with what was counted since the start of the profile that runs, whoever started it.
 * The session lock is held meanwhile. Returns what it returns, or -ESRCH if no profile runs. */
int pp_cpu_control_look(pp_cpu_look *look, void *context);

/* Writes what was counted since the first user joined to the file, for a user who joined for that. `leaves`: it is no user
 * after that, unless the session lock is not free (-EBUSY). 0 or -errno; -ECANCELED in the child of fork. `fatal`: as in pp_cpu_control_stop(). */
int pp_cpu_control_write_shared(bool leaves, bool fatal);

/* The program confines itself: the sampler stops, and those who leave later get what it counted. */
void pp_cpu_control_confine_shared(void);

/* Is called in the child of fork, where no profile runs. */
void pp_cpu_control_after_fork(void);

#endif
