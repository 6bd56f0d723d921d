/* SPDX-License-Identifier: MIT
 *
 * verb_doctor.c: `cpprof doctor`, which says what will work here, and how to mend the rest.
 *
 * Tested by: e2e.cpprof_doctor
 */
#include "verbs/verbs.h"

#include "ask/process_files.h"
#include "base/message.h"
#include "base/pool.h"
#include "base/terminal.h"
#include "doctor/checks.h"
#include "doctor/findings.h"
#include "record/record_kinds.h"
#include "record/record_library.h"
#include "verbs/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cp_help_doctor[] =
    "usage: cpprof doctor [OPTIONS] [COMMAND | -p PID]\n"
    "\n"
    "Says what will work on this machine, for the program COMMAND or for the process\n"
    "PID, what will not, and what mends it. COMMAND is looked at, not run; a process\n"
    "goes on. The exit status is 1 if a profile that is asked for cannot come.\n"
    "\n"
    "Example: cpprof doctor -e cpu,heap redis-server\n";

typedef struct doctor {
    const char *kinds, *process;
    const char *command; /* or NULL */
    bool json;
    char *options; /* LIBPPROF, or NULL */
    cp_record_kinds asked;
} doctor;

static int examine(const doctor *d, cp_findings *findings, cp_error *error)
{
    int pid = 0;

    cp_check_machine(findings);
    if (d->process && cp_process_parse(d->process, &pid, error) == 0) {
        return cp_check_process(findings, pid, error);
    }
    if (d->process) {
        return -1;
    }
    cp_check_push(findings, d->options);
    return d->command ? cp_check_command(findings, d->command, error) : 0;
}

static int conclude(const doctor *d, const cp_findings *findings)
{
    int status = CP_EXIT_OK;

    for (size_t i = 0; i < d->asked.count; i++) {
        if (cp_findings_prevent(findings, d->asked.list[i].name)) {
            cp_complain("no %s profile will come: see above", d->asked.list[i].name);
            status = CP_EXIT_BAD_INPUT;
        }
    }
    return status;
}

static int run(doctor *d)
{
    cp_error error;
    cp_findings findings;
    const char *options = getenv("LIBPPROF");

    d->options = options ? cp_heap_copy(options, strlen(options)) : NULL;
    unsetenv("LIBPPROF"); /* of cpprof's own: the doctor's trials have options of their own */
    cp_findings_init(&findings);
    if (examine(d, &findings, &error) < 0) {
        cp_complain("%s", error.text);
        cp_findings_release(&findings);
        free(d->options);
        return CP_EXIT_BAD_INPUT;
    }
    if (d->json) {
        cp_findings_print_json(&findings, stdout);
    } else {
        cp_findings_print(&findings, cp_color_wanted(CP_COLOR_AUTO, STDOUT_FILENO), stdout);
    }
    fflush(stdout);
    int status = conclude(d, &findings);
    cp_findings_release(&findings);
    free(d->options);
    return status;
}

int cp_run_doctor(int argc, char **argv)
{
    doctor d = {0};
    const cp_option table[] = {
        {'e', "events", NULL, CP_OPTION_TEXT, &d.kinds, 0, 0, "LIST",
         "the profiles that are asked for (cpu; of a process thread)"},
        {'p', "pid", NULL, CP_OPTION_TEXT, &d.process, 0, 0, "PID", "a running process"},
        {0, "json", NULL, CP_OPTION_FLAG, &d.json, 0, 0, NULL, "print one JSON object"},
        {0},
    };

    cp_operands operands;
    int status = CP_EXIT_OK;
    if (cp_options_parse("doctor", table, true, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (d.process && operands.count) {
        return cp_bad_usage("doctor", "doctor: expected -p PID or a COMMAND, found both");
    }
    d.command = operands.count ? operands.values[0] : NULL;
    const char *kinds = d.kinds ? d.kinds : d.process ? "thread" : "cpu";
    status = cp_record_kinds_parse(kinds, cp_record_library_has, &d.asked);
    return status ? status : run(&d);
}
