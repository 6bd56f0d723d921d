/* SPDX-License-Identifier: MIT
 *
 * record_progress.c: see record_progress.h.
 *
 * Tested by: e2e.cpprof_record.
 */
#include "record/record_progress.h"

#include "ask/process_files.h"
#include "base/clock.h"
#include "base/terminal.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define ERASE_LINE "\r\033[K"

/* A shorter command needs no line of progress. */
#define QUIET_SECONDS 0.4

void cp_progress_init(cp_progress *progress, bool with_children)
{
    memset(progress, 0, sizeof *progress);
    progress->enabled = cp_terminal_is_capable(STDERR_FILENO);
    progress->with_children = with_children;
    progress->start_ns = cp_now_ns();
}

static void put(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

    (void)ignored; /* the recording goes on without the terminal */
}

/* -1: there is no such process. */
static double cpu_seconds(pid_t pid, bool with_children)
{
    cp_process_stat stat;
    bool is_there = cp_process_stat_read(pid, "stat", &stat);
    uint64_t own = stat.ticks[0] + stat.ticks[1], children = stat.ticks[2] + stat.ticks[3];

    return is_there ? (double)(own + (with_children ? children : 0)) / (double)sysconf(_SC_CLK_TCK)
                    : -1;
}

static bool may_draw(void)
{
    struct termios terminal;

    return tcgetpgrp(STDERR_FILENO) == getpgrp() && tcgetattr(STDERR_FILENO, &terminal) == 0 &&
           (terminal.c_lflag & ICANON);
}

static void draw(cp_progress *progress, const cp_child *child)
{
    double cpu = cpu_seconds(child->pid, progress->with_children);
    double elapsed = (double)(cp_now_ns() - progress->start_ns) / 1e9;

    if (cpu < 0 || elapsed < QUIET_SECONDS || !may_draw()) {
        return;
    }
    char line[128];
    snprintf(line, sizeof line, ERASE_LINE "cpprof: recording for %.1f s, CPU time %.1f s", elapsed,
             cpu);
    put(line);
    progress->drawn = true;
}

void cp_progress_watch(void *ctx, const cp_child *child, cp_child_event event)
{
    cp_progress *progress = ctx;

    if (event == CP_CHILD_RUNS) {
        draw(progress, child);
    } else if (progress->drawn) {
        put(ERASE_LINE);
        progress->drawn = false;
    }
}
