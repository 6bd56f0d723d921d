/* SPDX-License-Identifier: MIT
 *
 * meter.c: see meter.h.
 *
 * Tested by: unit.cmd_meter.
 */
#include "base/meter.h"

#include "base/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERASE_LINE "\r\033[K"

enum {
    FIRST_MS = 500, /* shorter work needs no line */
    NEXT_MS = 100   /* between two lines */
};

static _Thread_local bool silent;

static struct timespec now_plus(int milliseconds)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += milliseconds * 1000000L;
    if (time.tv_nsec >= 1000000000L) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000L;
    }
    return time;
}

static bool is_due(const cp_meter *meter)
{
    struct timespec now = now_plus(0);

    return now.tv_sec != meter->next.tv_sec ? now.tv_sec > meter->next.tv_sec
                                            : now.tv_nsec >= meter->next.tv_nsec;
}

static void put(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

    (void)ignored; /* the work goes on without the terminal */
}

void cp_meter_begin(cp_meter *meter, const char *work, const char *things)
{
    *meter = (cp_meter){.work = work, .things = things, .next = now_plus(FIRST_MS)};
    meter->enabled = !silent && cp_terminal_is_capable(STDERR_FILENO);
}

void cp_meter_silence_thread(void)
{
    silent = true;
}

void cp_meter_step(cp_meter *meter, uint64_t done, uint64_t total)
{
    char line[160], of_total[32] = "";

    if (!meter->enabled || !is_due(meter) || tcgetpgrp(STDERR_FILENO) != getpgrp()) {
        return;
    }
    if (total) {
        snprintf(of_total, sizeof of_total, " of %" PRIu64, total);
    }
    snprintf(line, sizeof line, ERASE_LINE "cpprof: %.60s: %" PRIu64 "%s %.20s", meter->work, done,
             of_total, meter->things);
    put(line);
    meter->drawn = true;
    meter->next = now_plus(NEXT_MS);
}

void cp_meter_end(cp_meter *meter)
{
    if (meter->drawn) {
        put(ERASE_LINE);
        meter->drawn = false;
    }
}
