/* SPDX-License-Identifier: MIT
 *
 * verb_why.c: `cpprof why`, which says on one page what a process does and waits for.
 *
 * Tested by: e2e.cpprof_why
 */
#include "verbs/verbs.h"

#include "ask/fetch.h"
#include "ask/process_files.h"
#include "base/duration.h"
#include "base/message.h"
#include "base/pool.h"
#include "verbs/command_line.h"
#include "verbs/token_option.h"
#include "why/why.h"

#include <math.h>
#include <stdlib.h>

const char cp_help_why[] =
    "usage: cpprof why -p PID [OPTIONS]   or: URL\n"
    "\n"
    "Looks at a running process for ten seconds, and prints one page: what threads\n"
    "do and what they wait for, which thread holds the locks that others wait for,\n"
    "deadlocks, and which memory grows.\n"
    "\n"
    "Example: cpprof why -p $(pgrep -n redis-server)\n"
    "\n"
    "A process that was started without libpprof loads it for that time. Times are\n"
    "numbers of threads: 0.50 is one thread for half of the time. Threads that wait\n"
    "for work, such as those of a pool, are idle: docs/WALL.md says which those are.\n"
    "\n"
    "URL is a server of libpprof with /debug/pprof/, such as http://127.0.0.1:6060.\n";

enum { DEFAULT_SECONDS = 10, MAX_SECONDS = 3600 };

static int read_seconds(const char *text, long *seconds)
{
    double number = DEFAULT_SECONDS;

    if (text && (!cp_duration_read(text, &number) || number < 1 || number > MAX_SECONDS)) {
        return cp_bad_usage("why", "why: -d: expected a time from 1s to 1h, found '%s'", text);
    }
    *seconds = lround(ceil(number));
    return CP_EXIT_OK;
}

int cp_run_why(int argc, char **argv)
{
    const char *process = NULL, *duration = NULL;
    const cp_option table[] = {
        {'p', "pid", NULL, CP_OPTION_TEXT, &process, 0, 0, "PID", "the process (see `cpprof ps`)"},
        {'d', "duration", NULL, CP_OPTION_TEXT, &duration, 0, 0, "TIME", "how long to look (10s)"},
        CP_TOKEN_OPTION,
        {0},
    };
    cp_operands operands;
    cp_error error;
    long seconds = 0;
    int pid = 0, status = CP_EXIT_OK;

    if (cp_options_parse("why", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (operands.count != (process ? 0 : 1) || (!process && !cp_fetch_is_url(operands.values[0]))) {
        return cp_bad_usage("why", "why: expected -p PID or a URL");
    }
    if (process && cp_process_parse(process, &pid, &error) < 0) {
        return cp_bad_usage("why", "why: %s", error.text);
    }
    status = read_seconds(duration, &seconds);
    if (status != CP_EXIT_OK) {
        return status;
    }
    char *source =
        process ? cp_heap_printf("pid:%d", pid) : cp_heap_printf("%s", operands.values[0]);
    status = cp_why_run(source, seconds);
    free(source);
    return status;
}
