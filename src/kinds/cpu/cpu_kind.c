/* SPDX-License-Identifier: MIT
 *
 * cpu_kind.c: the kind "cpu": its words, variables and flags, and when its profile runs.
 *
 *   start --> [started] --> end, confine, deadline, toggle: the file
 *                 |
 *                exec --> [stopped for it] --> the exec failed: started again
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: what the program or its user asks for; whether the profile that was asked for runs.
 * Tested by: unit.options, e2e.options, e2e.flags, e2e.children
 */
#include "kinds/cpu/cpu_kind.h"

#include "host/dispositions.h"
#include "host/kind.h"
#include "output/output.h"
#include "output/prepare.h"
#include "output/word_values.h"
#include "kinds/cpu/cpu.h"
#include "kinds/cpu/cpu_perf.h"
#include "kinds/cpu/cpu_share.h"
#include "kinds/cpu/cpu_signal.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "sys/sampling_signal.h"
#include "host/toggle.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

pp_cpu_wish pp_cpu_asked = {.request = {.to_file = true}};

static struct {
    bool started;
    bool stopped_for_exec; /* to be started again if the exec fails */
    uint64_t until_ns;     /* the end of the wanted duration, for children of fork; 0: none */
    const char *flagged_file;
} state;

/* ---- words, variables and flags ---- */

static int take_cpu(const char *value)
{
    int64_t hz = 0;
    if (value != NULL && (!pp_word_number(value, &hz) || hz < 1 || hz > 1000000)) {
        return -EINVAL;
    }
    pp_cpu_asked.cpu = true;
    if (value != NULL) {
        pp_cpu_asked.request.hz = (int)hz;
    }
    return 0;
}

static int take_engine(const char *value)
{
    static const struct {
        const char *name;
        int engine;
    } engines[] = {
        {"auto", PPROF_ENGINE_AUTO}, {"timer", PPROF_ENGINE_TIMER}, {"perf", PPROF_ENGINE_PERF}};
    for (size_t i = 0; value != NULL && i < sizeof engines / sizeof *engines; i++) {
        if (strcmp(value, engines[i].name) == 0) {
            pp_cpu_asked.request.engine = engines[i].engine;
            if (engines[i].engine == PPROF_ENGINE_PERF) {
                pp_apart_stay_all(); /* before there are threads that stop a profile */
            }
            return 0;
        }
    }
    return -EINVAL;
}

static const pp_word words[] = {{"cpu", take_cpu, "cpu or cpu:HZ, HZ from 1 to 1000000"},
                                {"engine", take_engine, "engine=auto, timer or perf"},
                                {.name = NULL}};

static int take_path(const char *value)
{
    pp_cpu_asked.cpu = true;
    return pp_output_set_template_of("cpu", value);
}

/* Whether CPUPROFILE is set; the other variables are ignored without it. */
static bool has_path(void)
{
    const char *path = secure_getenv("CPUPROFILE");
    return path != NULL && *path != '\0';
}

static int take_frequency(const char *value)
{
    return has_path() ? take_cpu(value) : 0;
}

/* Whether libc keeps the signal for itself: no program can have a handler for it. */
static bool is_of_libc(int signal)
{
    return signal >= PP_SAMPLING_SIGNAL && signal < SIGRTMIN;
}

/* Reads a signal's number, as gperftools does. The first signal starts the profile, and the next
 * stops it; the files are numbered. */
static int take_signal(const char *value)
{
    int64_t number = 0;
    if (!has_path()) {
        return 0;
    }
    if (!pp_word_number(value, &number) || number < 1 || number > SIGRTMAX || number == SIGKILL ||
        number == SIGSTOP || is_of_libc((int)number)) {
        return -EINVAL;
    }
    pp_cpu_asked.toggle_signal = (int)number;
    pp_cpu_asked.cpu = false;
    return pp_output_number_files("cpu");
}

static const pp_word variables[] = {{"CPUPROFILE", take_path, NULL},
                                    {"CPUPROFILE_FREQUENCY", take_frequency, NULL},
                                    {"CPUPROFILESIGNAL", take_signal, NULL},
                                    {.name = NULL}};

static const pp_flag flags[] = {{"cpuprofile", .file = &state.flagged_file}, {.name = NULL}};

/* Refuses the flag if a profile runs: that profile keeps its file. */
static int take_flags(void)
{
    int error = 0;
    const char *path = state.flagged_file;
    state.flagged_file = NULL;
    if (path != NULL && *path != '\0' && pp_cpu_control_is_running()) {
        pp_flag_fail(&error, -EBUSY, "the CPU profile could not be started for ", path);
    } else {
        pp_cpu_asked.cpu = pp_flag_file("cpu", path, &error);
    }
    return error;
}

static void forget(bool all)
{
    pp_cpu_asked.cpu = false;
    if (all) {
        pp_cpu_asked = (pp_cpu_wish){.request = {.to_file = true}};
    }
}

static unsigned files(void)
{
    return pp_cpu_asked.cpu;
}

/* ---- start and end ---- */

static const char *advice_on(int error)
{
    switch (error) {
    case -EAGAIN:
        return "raise the limit on pending signals (ulimit -i)";
    case -EPERM:
        return "a seccomp filter forbids timer_create or process listing: allow them";
    default:
        return NULL;
    }
}

static int begin(void)
{
    pp_prepare_files();
    int error = pp_cpu_control_start(&pp_cpu_asked.request);
    if (error != 0) {
        pp_log_error("the CPU profile", " could not be started", error, advice_on(error));
    } else {
        state.started = true;
        pp_hook_fatal_signals();
    }
    return error;
}

static void toggle(void)
{
    if (state.started) {
        pp_cpu_control_stop(true, false);
        state.started = false;
    } else {
        begin();
    }
}

static void wait_for_signal(void)
{
    pp_prepare_files();
    int error = pp_toggle_begin(pp_cpu_asked.toggle_signal, toggle);
    if (error != 0) {
        pp_log_error("the signal that starts and stops the CPU profile", " is not waited for",
                     error, NULL);
    }
}

static int start(uint64_t duration_ns)
{
    pp_cpu_asked.request.duration_ns = duration_ns;
    state.until_ns = duration_ns != 0 ? pp_clock_ns(CLOCK_MONOTONIC) + duration_ns : 0;
    int error = pp_cpu_asked.cpu ? begin() : 0;
    if (pp_cpu_asked.toggle_signal != 0) {
        wait_for_signal();
        pp_cpu_asked.toggle_signal = 0;
    }
    return error;
}

static bool is_on(void)
{
    return state.started;
}

static void end(const void *interrupted)
{
    if (state.started) {
        pp_cpu_control_stop(true, interrupted != NULL);
        state.started = false;
    }
}

/* Stops the profile that was asked for; true if a file was written. */
static bool stop(void)
{
    bool written = state.started && pp_cpu_control_stop(true, false) == 0;
    state.started = state.started && !written;
    return written;
}

static bool confine(void)
{
    bool written = stop();
    pp_cpu_control_confine_shared();
    pp_cpu_perf_confine();
    return written;
}

static void write_so_far(void)
{
    state.stopped_for_exec |= stop();
}

static void after_failed_exec(uint64_t duration_ns)
{
    if (state.stopped_for_exec) {
        pp_cpu_request request = pp_cpu_asked.request;
        request.duration_ns = duration_ns;
        state.stopped_for_exec = false;
        state.started = pp_cpu_control_start(&request) == 0;
    }
}

/* The rest of the parent's duration is the child's. A duration that is over leaves 1 ns. */
static uint64_t left_ns(void)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    return state.until_ns == 0 ? 0 : state.until_ns > now_ns ? state.until_ns - now_ns : 1;
}

static void after_fork_in_child(bool goes_on)
{
    pp_cpu_control_after_fork();
    if (state.started && goes_on) {
        pp_cpu_asked.request.duration_ns = left_ns();
        begin();
    } else {
        state.started = false;
    }
}

const pp_kind pp_kind_cpu = {
    .name = "cpu",
    .words = words,
    .variables = variables,
    .flags = flags,
    .timed = &pp_cpu_timed_profile,
    .sampler = &pp_cpu_sampler,
    .forget = forget,
    .files = files,
    .take_flags = take_flags,
    .start = start,
    .is_on = is_on,
    .holds_addresses = pp_cpu_is_active,
    .owns_descriptor = pp_cpu_perf_has,
    .end = end,
    .confine = confine,
    .stop = stop,
    .write_so_far = write_so_far,
    .after_failed_exec = after_failed_exec,
    .after_fork_in_child = after_fork_in_child,
};
