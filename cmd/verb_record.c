/* SPDX-License-Identifier: MIT
 *
 * verb_record.c: `cpprof record`, run a command and write a profile of it.
 *
 *   options -> session (library, folder, environment) -> child -> collect -> top 10 -> its status
 */
#include "verbs.h"

#include "command_line.h"
#include "message.h"
#include "pool.h"
#include "profile_filter.h"
#include "profile_merge.h"
#include "profile_model.h"
#include "record_child.h"
#include "record_diagnose.h"
#include "record_progress.h"
#include "record_session.h"
#include "report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char pp_help_record[] =
    "usage: cpprof record [-e cpu] [-F HZ] [-d SECONDS] [-o FILE] [--engine=auto|timer|perf]\n"
    "                     [--subprocesses] -- COMMAND...\n"
    "\n"
    "Runs COMMAND with libpprof preloaded and writes a profile of where it spent its CPU time.\n"
    "\n"
    "  -e EVENTS       what to record: cpu (the only one in this version)\n"
    "  -F HZ           samples per second of CPU time, 1 to 1000000 (100)\n"
    "  -d SECONDS      stop recording after so long; COMMAND goes on to its end\n"
    "  -o FILE         where to write the profile (cpprof.pb.gz)\n"
    "  --engine=ENGINE timer: a stack at most at each tick of the kernel, whatever HZ is (auto is\n"
    "                  the same); perf: also perf events, for a stack each at 1000 to 10000 HZ\n"
    "  --subprocesses  also record the processes that COMMAND starts, added up in one profile\n"
    "\n"
    "cpprof ends with COMMAND's exit status, or by the signal that ended it. On a terminal it\n"
    "shows a line of progress; at the end it prints the top 10 on standard error.\n"
    "LIBPPROF_LIBRARY=/path names another libpprof.so; LIBPPROF may hold more options for it.\n";

#define DEFAULT_OUTPUT "cpprof.pb.gz"
#define DEFAULT_HZ     100
#define MAX_HZ         1000000
#define MAX_SECONDS    1e9
#define SUMMARY_ROWS   10

struct record {
    struct pp_record_options options;
    const char *events, *duration, *process;
    char **command;
};

/* ---- Options ------------------------------------------------------------------------------- */

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncmp(word, text, length) == 0;
}

static int check_events(const char *events)
{
    static const char *const later[] = {"heap", "block", "mutex", "thread"};
    const char *at = events;

    for (;;) {
        size_t length = strcspn(at, ",");

        for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
            if (is_word(later[i], at, length))
                return pp_bad_usage("record", "record: -e %s: not in this version; only cpu is",
                                    later[i]);
        if (!is_word("cpu", at, length))
            return pp_bad_usage("record", "record: -e: expected cpu, found '%.*s'", (int)length,
                                at);
        if (!at[length])
            return 0;
        at += length + 1;
    }
}

static int check_duration(struct record *record)
{
    const char *text = record->duration;
    double seconds;
    char *end;

    if (!text)
        return 0;
    seconds = strtod(text, &end);
    /* strtod also takes "0x1p3", "inf" and blanks. */
    if (text[strspn(text, "0123456789.")] || end == text || *end || seconds < 0.001 ||
        seconds > MAX_SECONDS)
        return pp_bad_usage("record", "record: -d: expected a number of seconds, found '%s'", text);
    record->options.duration_ms = lround(seconds * 1000);
    return 0;
}

/* The words of the library's own option. */
static int check_engine(const char *engine)
{
    static const char *const engines[] = {"auto", "timer", "perf"};

    if (!engine)
        return 0;
    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
        if (strcmp(engine, engines[i]) == 0)
            return 0;
    return pp_bad_usage("record", "record: --engine: expected auto, timer or perf, found '%s'",
                        engine);
}

static bool looks_like_url(const char *text)
{
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

static int check(struct record *record)
{
    const char *command = record->command[0];
    int status = check_events(record->events);

    if (status == 0)
        status = check_duration(record);
    if (status == 0)
        status = check_engine(record->options.engine);
    if (status)
        return status;
    if (record->process)
        return pp_bad_usage("record",
                            "record: -p %s: attaching to a running process is not in this "
                            "version",
                            record->process);
    if (!command)
        return pp_bad_usage("record", "record: expected a COMMAND to run");
    if (looks_like_url(command))
        return pp_bad_usage("record", "record: %s: recording from a URL is not in this version",
                            command);
    if (!record->options.output[0])
        return pp_bad_usage("record", "record: -o needs the name of a file");
    return 0;
}

static int parse(struct record *record, int argc, char **argv)
{
    struct pp_record_options *options = &record->options;
    const struct pp_option table[] = {
        {'e', "event", NULL, PP_OPTION_TEXT, &record->events, 0, 0},
        {'F', "frequency", NULL, PP_OPTION_COUNT, &options->hz, 1, MAX_HZ},
        {'d', "duration", NULL, PP_OPTION_TEXT, &record->duration, 0, 0},
        {'o', "output", NULL, PP_OPTION_TEXT, &options->output, 0, 0},
        {'p', "pid", NULL, PP_OPTION_TEXT, &record->process, 0, 0},
        {0, "engine", NULL, PP_OPTION_TEXT, &options->engine, 0, 0},
        {0, "subprocesses", NULL, PP_OPTION_FLAG, &options->subprocesses, 0, 0},
        {0},
    };
    struct pp_operands operands;
    int status;

    *record =
        (struct record){.options = {.output = DEFAULT_OUTPUT, .hz = DEFAULT_HZ}, .events = "cpu"};
    if (pp_options_parse("record", table, true, argc, argv, &operands, &status) < 0)
        return status == PP_EXIT_OK ? -1 : status;
    record->command = operands.values;
    return check(record);
}

/* ---- Summary ------------------------------------------------------------------------------- */

/* A word that a shell takes as it is; what else it may hold goes between quotes. */
static void print_quoted(const char *word)
{
    bool plain = *word != '\0';

    for (const char *at = word; *at; at++)
        plain = plain && (isalnum((unsigned char)*at) || strchr("/._-+,:@%=", *at));
    if (plain) {
        fputs(word, stderr);
        return;
    }
    fputc('\'', stderr);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", stderr);
        else
            fputc(*word, stderr);
    }
    fputc('\'', stderr);
}

static void print_next_steps(const char *output)
{
    fputs("\nNext: cpprof top --cum ", stderr);
    print_quoted(output);
    fputs("\n      go tool pprof -http=: ", stderr);
    print_quoted(output);
    fputc('\n', stderr);
}

/* What the library has to say beside the count of its samples: losses, refusals. */
static void print_troubles(const struct pp_profile *profile)
{
    for (uint32_t i = 0; i < profile->comment_count; i++) {
        const char *comment = pp_profile_text(profile, profile->comments[i]);

        if (strncmp(comment, "libpprof: ", 10) == 0 && !strstr(comment, " engine; of "))
            fprintf(stderr, "%s\n", comment);
    }
}

static void print_top(struct pp_profile *profile, const struct record *record)
{
    const struct pp_report_options options = {.node_count = SUMMARY_ROWS};
    struct pp_report report;
    struct pp_error error;

    pp_profile_demangle(profile);
    pp_profile_prune(profile);
    if (pp_report_init(&report, profile, &options, &error) < 0) {
        pp_complain("%s: %s", record->options.output, error.text);
        return;
    }
    if (report.total == 0) {
        pp_complain(
            "no samples: the command used less CPU time than the %g ms between two of them; "
            "try -F %ld",
            1000.0 / (double)record->options.hz,
            record->options.hz < MAX_HZ / 10 ? record->options.hz * 10 : MAX_HZ);
    } else {
        pp_report_print_summary(&report, stderr);
        pp_report_print_rows(&report, stderr);
        print_next_steps(record->options.output);
    }
    pp_report_release(&report);
}

static void summarize(struct pp_profile *profile, const struct pp_session *session,
                      const struct record *record)
{
    struct pp_profile *compact;
    struct pp_error error;

    pp_complain("wrote %s (%u process%s)", record->options.output, session->processes,
                session->processes == 1 ? "" : "es");
    print_troubles(profile);
    if (pp_profile_merge(&profile, 1, &compact, &error) == 0) {
        print_top(compact, record);
        pp_profile_free(compact);
    }
}

/* ---- Flow ---------------------------------------------------------------------------------- */

static void collect(struct pp_session *session, const struct record *record,
                    const struct pp_child *child)
{
    struct pp_profile *profile;
    struct pp_error error;

    if (pp_session_collect(session, child->pid, &profile, &error) < 0) {
        pp_complain("%s", error.text);
        return;
    }
    if (profile) {
        summarize(profile, session, record);
    } else {
        pp_diagnose_ended(record->command[0], child, record->options.subprocesses, &error);
        pp_complain("no profile was written: %s", error.text);
    }
    pp_profile_free(profile);
}

static int run(const struct record *record, struct pp_session *session, struct pp_child *child)
{
    struct pp_progress progress;
    struct pp_error error;
    int status;

    if (pp_diagnose_command(record->command[0], &error) < 0)
        pp_complain("warning: there will be no profile: %s", error.text);
    pp_progress_init(&progress, record->options.subprocesses);
    status = pp_child_start(child, record->command, session->environment, &error);
    if (status) {
        pp_complain("%s", error.text);
        return status;
    }
    pp_child_wait(child, progress.enabled ? pp_progress_watch : NULL, &progress);
    collect(session, record, child);
    return 0;
}

int pp_run_record(int argc, char **argv)
{
    struct pp_session session;
    struct pp_child child;
    struct record record;
    struct pp_error error;
    int status = parse(&record, argc, argv);

    if (status)
        return status < 0 ? PP_EXIT_OK : status;
    if (pp_session_open(&session, &record.options, &error) < 0) {
        pp_complain("%s", error.text);
        return PP_EXIT_BAD_INPUT;
    }
    status = run(&record, &session, &child);
    pp_session_close(&session);
    if (status)
        return status;
    pp_child_end_alike(&child);
}
