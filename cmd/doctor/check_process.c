/* SPDX-License-Identifier: MIT
 *
 * check_process.c: a running process; see checks.h. What /proc tells, and a dump into nothing.
 *
 * Tested by: e2e.cpprof_doctor
 */
#include "doctor/checks.h"

#include "ask/control_target.h"
#include "ask/process_files.h"
#include "base/message.h"
#include "doctor/findings.h"
#include "record/record_kinds.h"

#include "remote/attach.h"
#include "remote/dump.h"
#include "remote/process.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stores the value of a line of /proc/PID/status, or 0. */
static long status_of(int pid, const char *key)
{
    char line[256];
    long value = 0;
    FILE *file = cp_process_open(pid, "status");

    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':') {
            value = strtol(line + strlen(key) + 1, NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    return value;
}

/* ---- what it is ---- */

static void check_state(cp_findings *f, const cp_target *target)
{
    int pid = target->pid;
    long tracer = status_of(pid, "TracerPid");

    if (tracer) {
        cp_found_less(f, CP_LIMITED, "", "tracer", NULL,
                      "process %ld traces it (gdb, strace): what it stops is shown as stopped",
                      tracer);
    }
    if (pp_attach_filtered_thread(pid)) {
        cp_found_less(
            f, CP_LIMITED, "", "seccomp", NULL,
            "a filter forbids it some system calls: `record` hands its library an open file "
            "to write to");
    }
    if (target->has_root) {
        cp_found(f, "container", "it has files of its own: `dump` reads them by /proc/%d/root",
                 pp_process_thread(pid));
    }
}

/* Takes a line of /proc/PID/maps. */
static void take_mapping(cp_findings *f, const char *line, bool *loaded)
{
    static const char *const allocators[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};

    *loaded |= strstr(line, "/libpprof.so") != NULL;
    for (size_t i = 0; i < sizeof allocators / sizeof *allocators; i++) {
        if (strstr(line, allocators[i]) && strstr(line, " r-xp ")) {
            cp_found(f, "malloc", "that of %s", allocators[i] + 3);
        }
    }
}

/* Whether the library can be loaded now. */
static void check_attachment(cp_findings *f, int pid)
{
    pp_attach_target found;
    pp_remote_error why;

    if (pp_attach_look(pid, &found, &why) == 0) {
        cp_found(f, "library", "not loaded; `cpprof record -p %d` and `top -p %d` attach to it",
                 pid, pid);
    } else {
        cp_found_less(f, CP_FAILS, "cpu heap allocs block mutex wall fd peak leak threadcreate",
                      "library", "cpprof record -- COMMAND, or for its threads alone cpprof dump",
                      "not loaded, and it cannot be attached to: %s", why.text);
    }
}

void cp_check_push(cp_findings *f, const char *options)
{
    cp_record_kinds kinds = {.count = 0};
    long hz = 0;
    char *push = cp_target_option(options, "push");

    if (push) {
        cp_record_kinds_inherit(options, &kinds, &hz);
    }
    if (push && kinds.count == 0) {
        cp_found_less(f, CP_LIMITED, "", "push", "LIBPPROF=cpu,heap,push=URL",
                      "LIBPPROF has push= and no kind of profile: nothing is sent, unless the "
                      "program turns one on itself");
    }
    free(push);
}

static void check_library(cp_findings *f, const cp_target *target)
{
    bool loaded = false;
    char line[PATH_MAX + 128];
    FILE *maps = cp_process_open(target->pid, "maps");

    while (maps && fgets(line, sizeof line, maps)) {
        take_mapping(f, line, &loaded);
    }
    if (maps) {
        fclose(maps);
    }
    cp_target_environment environment;
    cp_target_environment_read(target, &environment);
    if (loaded) {
        cp_found(f, "library", "libpprof is loaded, LIBPPROF=%s",
                 environment.options ? environment.options : "");
        cp_check_push(f, environment.options);
    } else {
        check_attachment(f, target->pid);
    }
    cp_target_environment_release(&environment);
}

/* ---- a dump ---- */

static int drop(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
    return 0;
}

static void check_dump(cp_findings *f, int pid)
{
    pp_remote_result result;
    pp_remote_error why;
    const pp_remote_wish wish = {.pid = pid, .as_profile = true};

    if (pp_remote_dump(&wish, (pprof_writer){drop, NULL}, &result, &why) < 0) {
        cp_found_less(f, CP_FAILS, "thread", "dump", NULL, "%s", why.text);
    } else if (result.not_whole) {
        cp_found_less(
            f, CP_LIMITED, "thread", "dump", NULL,
            "%zu threads; %zu of them without a whole stack, %zu of these since they run and "
            "the kernel grants no perf event",
            result.threads, result.not_whole, result.not_seen);
    } else {
        cp_found(f, "dump", "%zu thread%s, each with its whole stack", result.threads,
                 result.threads == 1 ? "" : "s");
    }
}

int cp_check_process(cp_findings *findings, int pid, cp_error *error)
{
    char exe[64], file[PATH_MAX], subject[PATH_MAX + 64];
    cp_target target;

    if (cp_target_read(pid, &target, error) < 0) {
        return cp_fail(error, "-p %d: expected a process, found none", pid);
    }
    snprintf(exe, sizeof exe, "/proc/%d/exe", pp_process_thread(pid));
    ssize_t length = readlink(exe, file, sizeof file - 1);
    file[length > 0 ? length : 0] = '\0';
    snprintf(subject, sizeof subject, "process %d%s%s", pid, length > 0 ? ", " : "", file);
    cp_findings_about(findings, subject);
    check_state(findings, &target);
    check_library(findings, &target);
    check_dump(findings, pid);
    cp_check_names(findings, exe, file);
    return 0;
}
