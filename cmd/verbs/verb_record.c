/* SPDX-License-Identifier: MIT
 *
 * verb_record.c: `cpprof record`, which runs a command and writes profiles of it.
 *
 *   options -> session (library, folder, environment) -> child -> collect -> top 10 -> its status
 *
 * Tested by: e2e.cpprof_record.
 */
#include "verbs/verbs.h"

#include "ask/process_files.h"
#include "ask/fetch.h"
#include "base/duration.h"
#include "base/message.h"
#include "base/out_file.h"
#include "base/pool.h"
#include "profile/profile_model.h"
#include "record/record_child.h"
#include "record/record_diagnose.h"
#include "record/record_library.h"
#include "record/record_progress.h"
#include "record/record_remote.h"
#include "record/record_session.h"
#include "record/record_summary.h"
#include "verbs/command_line.h"
#include "verbs/token_option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cp_help_record[] =
    "usage: cpprof record [OPTIONS] -- COMMAND...   or: -p PID   or: URL\n"
    "\n"
    "Runs COMMAND with libpprof preloaded and writes a profile of each kind:\n"
    "  cpu          where CPU time was spent\n"
    "  heap[:BYTES] memory that was allocated, and is in use; one in BYTES (512k)\n"
    "  wall[:HZ]    where time passed, running or waiting; HZ looks a second (20)\n"
    "  peak, leak   the heap at its peak; what is in use, and nothing refers to it\n"
    "  lifetime     how long freed memory lived; memory: what is resident, by holder\n"
    "  block[:NS]   where threads waited; all waits of NS nanoseconds or more (1)\n"
    "  mutex[:N]    who made threads wait; one release in N (1)\n"
    "  thread, fd   where each thread is at the end; who opened the descriptors\n"
    "\n"
    "Example: cpprof record -e cpu,heap -o prof.pb.gz -- xz -k big.tar\n"
    "\n"
    "The processes that COMMAND starts are recorded as well. Each sample has the\n"
    "label process, the name of its program: `cpprof tags` adds them up, and\n"
    "--tagfocus process=NAME shows one. cpprof names those that it cannot follow.\n"
    "\n"
    "With several kinds each has a file of its own, such as prof.cpu.pb.gz; %k in\n"
    "the name of -o becomes the kind. The kinds in LIBPPROF are recorded too. If the\n"
    "library has other kinds, -e takes them.\n"
    "\n"
    "The engine timer takes at most one stack at each tick of the kernel, whatever\n"
    "HZ is; perf uses perf events, with a stack for each sample at 1000 to 10000 HZ;\n"
    "auto is the same as timer.\n"
    "\n"
    "PID is a process that runs, which loads libpprof for that time; URL a server\n"
    "with /debug/pprof/, also of a Go program, such as http://127.0.0.1:6060. For 10\n"
    "seconds, or TIME: cpu, wall, block, mutex, lifetime and what has a rate are of\n"
    "that time, others of its end; or of now, if there is nothing to wait for.\n"
    "\n"
    "TIME is a number of seconds, or numbers with the units ms, s, m and h. COMMAND\n"
    "goes on after it, and may then be killed.\n"
    "\n"
    "cpprof ends with COMMAND's exit status, or by the signal that ended COMMAND;\n"
    "with 125 instead of 0 if a profile is missing; with 126 or 127 if COMMAND\n"
    "cannot be run. On a terminal, cpprof shows a line of progress; at the end it\n"
    "prints the top 10 on standard error.\n"
    "\n"
    "LIBPPROF_LIBRARY=/path names another libpprof.so; LIBPPROF may have more\n"
    "options for it.\n";

#define DEFAULT_OUTPUT "cpprof.pb.gz"
#define DEFAULT_HZ     100
#define MAX_HZ         1000000
#define MAX_SECONDS    1e9

typedef struct record {
    cp_record_options options;
    const char *events, *duration, *process;
    char **command;
    bool followed;      /* --subprocesses, which is the default */
    const char *remote; /* instead of a command: pid:PID, or a URL */
} record;

/* ---- options ---- */

static int check_duration(record *r)
{
    const char *text = r->duration;

    if (!text) {
        return 0;
    }
    double seconds;
    if (!cp_duration_read(text, &seconds) || seconds < 0.001 || seconds > MAX_SECONDS) {
        return cp_bad_usage("record",
                            "record: -d: expected a number of seconds from 0.001 to 1e9, or a time "
                            "such as 500ms, 10s or 1m30s, found '%s'",
                            text);
    }
    r->options.duration_ms = lround(seconds * 1000);
    return 0;
}

/* A process that runs already has its library and its options. */
static int check_remote(record *r)
{
    cp_error error;
    int pid = 0;

    if (r->process && cp_process_parse(r->process, &pid, &error) < 0) {
        return cp_bad_usage("record", "record: %s", error.text);
    }
    if (r->command[r->process ? 0 : 1]) {
        return cp_bad_usage("record", "record: expected a COMMAND, -p PID or a URL, found two");
    }
    if (r->options.engine || r->followed || r->options.alone || r->options.pid_label ||
        r->options.thread_label) {
        return cp_bad_usage("record", "record: --engine, --subprocesses, --no-subprocesses, "
                                      "--pid-label and --thread-label are for a COMMAND");
    }
    r->remote = r->process ? cp_heap_printf("pid:%d", pid) : r->command[0];
    return 0;
}

static int check_source(record *r)
{
    if (r->process || (r->command[0] && cp_fetch_is_url(r->command[0]))) {
        return check_remote(r);
    }
    if (!r->command[0]) {
        return cp_bad_usage("record", "record: expected a COMMAND to run, found none");
    }
    return 0;
}

/* The process that is asked knows its profiles. */
static bool take_any(const char *kind, const char *word)
{
    (void)kind, (void)word;
    return true;
}

static int check(record *r)
{
    const char *inherited = getenv("LIBPPROF");
    int status = check_source(r);

    if (status) {
        return status;
    }
    status = cp_record_kinds_parse(r->events, r->remote ? take_any : cp_record_library_has,
                                   &r->options.kinds);
    if (status == 0 && inherited && !r->remote) {
        cp_record_kinds_inherit(inherited, &r->options.kinds, &r->options.hz);
    }
    if (r->options.hz == 0) {
        r->options.hz = DEFAULT_HZ;
    }
    if (status == 0) {
        status = check_duration(r);
    }
    if (status) {
        return status;
    }
    if (r->followed && r->options.alone) {
        return cp_bad_usage("record", "record: --subprocesses and --no-subprocesses exclude each "
                                      "other");
    }
    if (!r->options.output[0]) {
        return cp_bad_usage("record",
                            "record: -o: expected the name of a file, found an empty one");
    }
    cp_error error;
    if (cp_out_check_binary(r->options.output, &error) < 0) {
        return cp_bad_usage("record", "record: %s", error.text);
    }
    return 0;
}

static int parse(record *r, int argc, char **argv)
{
    cp_record_options *options = &r->options;
    const cp_option table[] = {
        {'e', "event", NULL, CP_OPTION_TEXT, &r->events, 0, 0, "KIND,...", "what to record (cpu)"},
        {'F', "frequency", NULL, CP_OPTION_COUNT, &options->hz, 1, MAX_HZ, "HZ",
         "samples per second of CPU time (100)"},
        {'d', "duration", NULL, CP_OPTION_TEXT, &r->duration, 0, 0, "TIME",
         "record for TIME, such as 10s or 500ms, then write"},
        {'o', "output", NULL, CP_OPTION_TEXT, &options->output, 0, 0, "FILE",
         "the file to write (cpprof.pb.gz)"},
        {'p', "pid", NULL, CP_OPTION_TEXT, &r->process, 0, 0, "PID",
         "record a process that runs already (see `cpprof ps`)"},
        {0, "engine", NULL, CP_OPTION_TEXT, &options->engine, 0, 0, "ENGINE", "auto, timer or perf",
         "auto timer perf"},
        {0, "no-subprocesses", NULL, CP_OPTION_FLAG, &options->alone, 0, 0, NULL,
         "record COMMAND alone, not the processes that it starts"},
        {0, "subprocesses", NULL, CP_OPTION_FLAG, &r->followed, 0, 0, NULL,
         "record the processes that COMMAND starts, too (the default)", .rare = true},
        {0, "pid-label", NULL, CP_OPTION_FLAG, &options->pid_label, 0, 0, NULL,
         "give each sample the label `pid`, too", .rare = true},
        {0, "thread-label", NULL, CP_OPTION_FLAG, &options->thread_label, 0, 0, NULL,
         "give each sample of wall the label `thread`, a name", .rare = true},
        CP_TOKEN_OPTION,
        {0},
    };

    *r = (record){.options = {.output = DEFAULT_OUTPUT}, .events = "cpu"};
    cp_operands operands;
    int status = CP_EXIT_OK;
    if (cp_options_parse("record", table, true, argc, argv, &operands, &status) < 0) {
        return status == CP_EXIT_OK ? -1 : status;
    }
    r->command = operands.values;
    return check(r);
}

/* ---- flow ---- */

static void collect_kind(cp_record_summary *summary, cp_session *session, size_t kind)
{
    cp_profile *profile = NULL;
    unsigned written = summary->written;

    cp_error error;
    if (cp_session_collect(session, kind, summary->child->pid, &profile, &error) < 0) {
        cp_complain("%s", error.text);
        summary->failed = true;
    } else if (profile) {
        cp_record_summarize(summary, kind, profile);
    }
    cp_profile_free(profile);
    summary->incomplete = summary->incomplete || summary->written == written;
}

/* Returns true if there is a profile of each kind. */
static bool collect(cp_session *session, const record *r, const cp_child *child)
{
    cp_record_summary summary = {.session = session, .child = child, .command = r->command[0]};
    const cp_record_kinds *kinds = &r->options.kinds;

    bool arrived[CP_RECORD_KINDS_MAX] = {false};
    for (size_t i = 0; i < kinds->count; i++) {
        unsigned written = summary.written;

        collect_kind(&summary, session, i);
        arrived[i] = summary.written > written;
    }
    cp_error error;
    if (summary.written == 0 && !summary.failed) {
        cp_diagnose_ended(r->command[0], child, r->options.alone, &error);
        cp_complain("no profile was written: %s", error.text);
    }
    for (size_t i = 0; i < kinds->count; i++) {
        if (!arrived[i] && summary.written > 0) {
            cp_complain("no %s profile was written", kinds->list[i].name);
        }
        if (!arrived[i]) {
            cp_record_say_missing(&summary, i);
        }
    }
    cp_record_advise(&summary);
    if (!r->options.alone) {
        cp_tree_say_missing(&session->tree, child->all_seconds);
    }
    cp_record_print_next(&summary);
    return !summary.incomplete;
}

/* Whether to preload the library: not if the command would break, and if the system ignores
 * LD_PRELOAD for it, only for the processes that it starts. */
static bool is_worth_a_try(const record *r)
{
    cp_error error;
    int verdict = cp_diagnose_command(r->command[0], &error);

    if (verdict == CP_DIAGNOSE_IGNORED && !r->options.alone) {
        cp_complain("warning: only processes that the command starts are recorded: %s", error.text);
    } else if (verdict != CP_DIAGNOSE_FINE) {
        cp_complain("warning: there will be no profile: %s", error.text);
    }
    return verdict == CP_DIAGNOSE_FINE || (verdict == CP_DIAGNOSE_IGNORED && !r->options.alone);
}

static int run(const record *r, cp_session *session, cp_child *child, bool *arrived)
{
    bool preload = is_worth_a_try(r);

    cp_progress progress;
    cp_progress_init(&progress, !r->options.alone);
    if (!preload) {
        cp_record_socket_started(&session->socket); /* nobody uses it */
    }
    cp_error error;
    int status =
        cp_child_start(child, r->command, preload ? session->environment : environ, &error);
    if (status) {
        cp_complain("%s", error.text);
        return status;
    }
    cp_record_socket_started(&session->socket);
    if (!r->options.alone && preload) {
        cp_tree_command(&session->tree, child->pid, r->command[0]);
    }
    cp_child_wait(child, &session->socket, &session->parts, &session->tree,
                  progress.enabled ? cp_progress_watch : NULL, &progress);
    cp_session_take_rest(session);
    *arrived = collect(session, r, child);
    return 0;
}

int cp_run_record(int argc, char **argv)
{
    bool arrived = false;
    record r;
    int status = parse(&r, argc, argv);

    if (status) {
        return status < 0 ? CP_EXIT_OK : status;
    }
    if (r.remote) {
        return cp_record_remote(r.remote, &r.options);
    }
    cp_session session;
    cp_error error;
    if (cp_session_open(&session, &r.options, &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    cp_child child;
    status = run(&r, &session, &child, &arrived);
    cp_session_close(&session);
    if (status) {
        return status;
    }
    cp_child_end_alike(&child, arrived ? CP_EXIT_OK : CP_EXIT_NO_PROFILE);
}
