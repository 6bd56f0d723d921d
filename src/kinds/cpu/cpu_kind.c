/* SPDX-License-Identifier: MIT
 *
 * cpu_kind.c: the kind "cpu": its words, variables and flags, and when its profile runs.
 *
 *   start --> [runs: its file is wanted] --> write, toggle: it stops, and is written
 *                 |
 *                write so far --> [stopped for it] --> resume: it runs again
 *
 * With cpu=shared it is one of those who share a profile, and is written without a stop.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: what the program or its user asks for; whether the profile that was asked for runs.
 * Tested by: unit.options, e2e.options, e2e.flags, e2e.children, e2e.cpu_shared
 */
#include "kinds/cpu/cpu_kind.h"

#include "host/dispositions.h"
#include "host/kind.h"
#include "host/pausable.h"
#include "output/output.h"
#include "output/prepare.h"
#include "output/word_values.h"
#include "kinds/cpu/cpu.h"
#include "kinds/cpu/cpu_latency.h"
#include "kinds/cpu/cpu_perf.h"
#include "kinds/cpu/cpu_share.h"
#include "kinds/cpu/cpu_signal.h"
#include "sys/clock.h"
#include "sys/log.h"
#include "host/toggle.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

pp_cpu_wish pp_cpu_asked = {.request = {.to_file = true}};

static struct {
    bool is_interrupted; /* write() has stopped it, and resume() starts it again */
    bool is_shared;      /* the profile that runs */
    uint64_t until_ns;   /* the end of the wanted duration, for children of fork; 0: none */
    const char *flagged_file;
    bool with_latency;
} state;

/* Is wanted while the profile that was asked for runs; cpu_control.c writes it when that stops. */
static pp_end_file files[] = {{.name = "cpu"}, {.name = NULL}};

/* ---- words and flags ---- */

static int take_cpu(const char *value)
{
    int64_t hz = 0;
    if (value != NULL && strcmp(value, "shared") == 0) {
        files->asked = pp_cpu_asked.is_shared = true;
        return 0;
    }
    if (value != NULL && (!pp_word_number(value, &hz) || hz < 1 || hz > 1000000)) {
        return -EINVAL;
    }
    files->asked = true;
    if (value != NULL) {
        pp_cpu_asked.request.hz = (int)hz;
    }
    return 0;
}

/* The profile has latencies, too. */
static int take_latency(const char *value)
{
    files->asked |= value == NULL;
    return pp_word_alone(value, &state.with_latency);
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
                pp_pausables_keep_table(); /* before a thread of the library opens an event */
            }
            return 0;
        }
    }
    return -EINVAL;
}

static int take_path(const char *value)
{
    files->asked = true;
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
    return signal >= 32 && signal < SIGRTMIN;
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
    files->asked = false;
    return pp_output_number_files("cpu");
}

static const pp_word words[] = {
    {"cpu", take_cpu, "cpu, cpu=shared or cpu:HZ, HZ from 1 to 1000000"},
    {"cpu-latency", take_latency, "cpu-latency, without a value"},
    {"engine", take_engine, "engine=auto, timer or perf"},
    {"CPUPROFILE", take_path, NULL},
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
        files->asked = pp_flag_file("cpu", path, &error);
    }
    return error;
}

static void reset(void)
{
    pp_cpu_asked = (pp_cpu_wish){.request = {.to_file = true}};
    state.with_latency = false;
}

/* ---- start and stop ---- */

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
    bool is_shared = pp_cpu_asked.is_shared;
    if (is_shared && state.is_shared && files->wanted) {
        return 0; /* it is a user already */
    }
    pp_prepare_files();
    int error = is_shared ? pp_cpu_control_join(pp_cpu_asked.request.hz, NULL, NULL)
                          : pp_cpu_control_start(&pp_cpu_asked.request);
    if (error != 0) {
        pp_log_error("the CPU profile", " could not be started", error, advice_on(error));
    } else {
        files->wanted = true;
        state.is_shared = is_shared;
        pp_hook_fatal_signals();
    }
    return error;
}

static void write_file(bool so_far, const void *interrupted)
{
    if (files->wanted && state.is_shared) {
        pp_cpu_control_write_shared(!so_far, interrupted != NULL);
        files->wanted = so_far;
    } else if (files->wanted) {
        int error = pp_cpu_control_stop(true, interrupted != NULL);
        files->wanted = so_far && error != 0;
        state.is_interrupted |= so_far && error == 0;
    }
}

static void toggle(void)
{
    if (files->wanted) {
        write_file(false, NULL);
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
    pp_cpu_latency_want(state.with_latency);
    state.until_ns = duration_ns != 0 ? pp_clock_ns(CLOCK_MONOTONIC) + duration_ns : 0;
    int error = files->asked ? begin() : 0;
    if (pp_cpu_asked.toggle_signal != 0) {
        wait_for_signal();
        pp_cpu_asked.toggle_signal = 0;
    }
    return error;
}

static void stop(bool confined)
{
    if (confined) {
        pp_cpu_control_confine_shared();
        pp_cpu_perf_confine();
    }
}

static void resume(uint64_t duration_ns)
{
    if (state.is_interrupted) {
        pp_cpu_request request = pp_cpu_asked.request;
        request.duration_ns = duration_ns;
        state.is_interrupted = false;
        files->wanted = pp_cpu_control_start(&request) == 0;
    }
}

/* The rest of the parent's duration is the child's. A duration that is over leaves 1 ns. */
static uint64_t left_ns(void)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    return state.until_ns == 0 ? 0 : state.until_ns > now_ns ? state.until_ns - now_ns : 1;
}

static void after_fork(bool goes_on)
{
    pp_cpu_control_after_fork();
    if (files->wanted && goes_on) {
        files->wanted = false;
        pp_cpu_asked.request.duration_ns = left_ns();
        begin();
    }
}

const pp_kind pp_kind_cpu = {
    .name = "cpu",
    .words = words,
    .flags = flags,
    .files = files,
    .timed = &pp_cpu_timed_profile,
    .sampler = &pp_cpu_sampler,
    .take_flags = take_flags,
    .reset = reset,
    .holds_addresses = pp_cpu_is_active,
    .start = start,
    .write = write_file,
    .stop = stop,
    .resume = resume,
    .after_fork = after_fork,
};
