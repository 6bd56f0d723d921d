/* SPDX-License-Identifier: MIT
 *
 * check_machine.c: what the kernel grants, and which parts of cpprof are there; see checks.h.
 *
 * Tested by: e2e.cpprof_doctor
 */
#include "doctor/checks.h"

#include "base/message.h"
#include "doctor/findings.h"
#include "names/line_reader.h"
#include "record/record_diagnose.h"
#include "record/record_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Signals that may wait: each thread's timer takes one from this limit. */
#define FEW_SIGNALS 1024

/* Reads a number in a file of /proc. */
static bool read_setting(const char *path, long *value)
{
    char line[32] = "";
    FILE *file = fopen(path, "re");
    bool ok = file && fgets(line, sizeof line, file);

    if (file) {
        fclose(file);
    }
    *value = strtol(line, NULL, 10);
    return ok;
}

/* ---- the library ---- */

static void check_library(cp_findings *f)
{
    cp_error error;
    char *path = cp_record_library_find(&error);

    if (!path) {
        cp_found_less(f, CP_FAILS, NULL, "library", NULL, "%s", error.text);
    } else if (!cp_record_library_has("cpu", "cpu")) {
        cp_found_less(f, CP_FAILS, NULL, "library", "LIBPPROF=cpu,log=stderr LD_PRELOAD=... true",
                      "%s was preloaded into `true`, and no profile came", path);
    } else {
        cp_found(f, "library", "%s; a profile of `true` arrived", path);
    }
    free(path);
}

/* ---- sampling ---- */

static void check_timers(cp_findings *f)
{
    struct timespec tick = {0};
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer;

    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) < 0) {
        cp_found_less(f, CP_FAILS, "cpu", "timers",
                      errno == EAGAIN ? "raise the limit of pending signals: ulimit -i" : NULL,
                      "no timer of a thread's CPU time: %s", strerror(errno));
        return;
    }
    timer_delete(timer);
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    long hz = tick.tv_nsec ? (1000000000L + tick.tv_nsec / 2) / tick.tv_nsec : 0;
    cp_found(f, "timers", "the kernel ticks at %ld Hz: up to that rate each thread has a timer",
             hz);
}

static void check_signals(cp_findings *f)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_SIGPENDING, &limit) == 0 && limit.rlim_cur < FEW_SIGNALS) {
        cp_found_less(f, CP_LIMITED, "cpu", "signals", "ulimit -i 4096",
                      "%lu signals may wait: no more threads than that are sampled",
                      (unsigned long)limit.rlim_cur);
    }
}

static int open_event(void)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = 1000000,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .disabled = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void check_events(cp_findings *f)
{
    int fd = open_event(), error = errno;
    long paranoid = 0;
    bool known = read_setting("/proc/sys/kernel/perf_event_paranoid", &paranoid);

    if (fd >= 0) {
        close(fd);
        cp_found(f, "perf events",
                 "granted: engine=perf samples faster than the kernel ticks, and "
                 "dump sees threads that run");
    } else if (known && paranoid > 2 && geteuid() != 0) {
        cp_found_less(
            f, CP_LIMITED, "", "perf events", "sudo sysctl kernel.perf_event_paranoid=2",
            "refused, kernel.perf_event_paranoid is %ld: the kernel's ticks bound -F, and "
            "dump sees only threads that wait",
            paranoid);
    } else {
        cp_found_less(f, CP_LIMITED, "", "perf events",
                      "in a container: let its seccomp profile allow perf_event_open",
                      "refused (%s): the kernel's ticks bound -F, and dump sees only threads that "
                      "wait",
                      strerror(error));
    }
}

static void check_ptrace(cp_findings *f)
{
    long scope = 0;

    if (read_setting("/proc/sys/kernel/yama/ptrace_scope", &scope) && scope > 0 && geteuid() != 0) {
        cp_found_less(
            f, CP_LIMITED, "", "processes",
            "sudo cpprof dump -p PID; or sudo sysctl kernel.yama.ptrace_scope=0",
            "kernel.yama.ptrace_scope is %ld: `dump` may look at no process of yours that "
            "it has not started",
            scope);
    } else {
        cp_found(f, "processes", "`dump` may look at %s",
                 geteuid() == 0 ? "every process" : "your own");
    }
}

/* ---- what cpprof uses ---- */

static void check_reader(cp_findings *f)
{
    if (!cp_line_reader_plugin()) {
        cp_found_less(f, CP_LIMITED, "", "lines",
                      "apt install libdw1, and libpprof-dwarf.so beside cpprof",
                      "no file names and line numbers: %s", cp_line_reader_absence());
    } else {
        cp_found(f, "lines", "libpprof-dwarf.so and libdw are there");
    }
}

static bool has_library(const char *const *names)
{
    for (; *names; names++) {
        void *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
        if (library) {
            dlclose(library);
            return true;
        }
    }
    return false;
}

static void check_helpers(cp_findings *f)
{
    static const char *const curl[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};
    static const char *const debuginfod[] = {"libdebuginfod.so.1", NULL};
    const char *urls = getenv("DEBUGINFOD_URLS");
    char objdump[PATH_MAX];

    if (!cp_diagnose_find("objdump", objdump, sizeof objdump)) {
        cp_found_less(f, CP_LIMITED, "", "objdump", "apt install binutils",
                      "not installed: no `list --asm`, no `--demangle=full`");
    }
    if (!has_library(curl)) {
        cp_found_less(f, CP_LIMITED, "", "libcurl", "apt install libcurl4",
                      "not installed: no profiles from http:// and unix:/");
    }
    if (urls && *urls && !has_library(debuginfod)) {
        cp_found_less(f, CP_LIMITED, "", "debuginfod", "apt install libdebuginfod1",
                      "DEBUGINFOD_URLS is set, and libdebuginfod is not installed");
    }
}

void cp_check_machine(cp_findings *findings)
{
    cp_findings_about(findings, "this machine");
    check_library(findings);
    check_timers(findings);
    check_signals(findings);
    check_events(findings);
    check_ptrace(findings);
    check_reader(findings);
    check_helpers(findings);
}
