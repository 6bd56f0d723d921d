/* SPDX-License-Identifier: MIT
 *
 * meter.c: see meter.h.
 *
 * Tested by: unit.cmd_meter.
 */
#include "base/meter.h"

#include "base/clock.h"
#include "base/terminal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ERASE_LINE "\r\033[K"
#define MS         INT64_C(1000000)

enum {
    FIRST_MS = 500, /* shorter work needs no line */
    NEXT_MS = 100   /* between two lines */
};

static _Thread_local bool silent;

static void put(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

    (void)ignored; /* the work goes on without the terminal */
}

void cp_meter_begin(cp_meter *meter, const char *work, const char *things)
{
    *meter = (cp_meter){.work = work, .things = things, .next_ns = cp_now_ns() + FIRST_MS * MS};
    meter->enabled = !silent && cp_terminal_is_capable(STDERR_FILENO);
}

void cp_meter_silence_thread(void)
{
    silent = true;
}

void cp_meter_step(cp_meter *meter, uint64_t done, uint64_t total)
{
    char line[160], of_total[32] = "";

    if (!meter->enabled || cp_now_ns() < meter->next_ns || tcgetpgrp(STDERR_FILENO) != getpgrp()) {
        return;
    }
    if (total) {
        snprintf(of_total, sizeof of_total, " of %" PRIu64, total);
    }
    snprintf(line, sizeof line, ERASE_LINE "cpprof: %.60s: %" PRIu64 "%s %.20s", meter->work, done,
             of_total, meter->things);
    put(line);
    meter->drawn = true;
    meter->next_ns = cp_now_ns() + NEXT_MS * MS;
}

void cp_meter_end(cp_meter *meter)
{
    if (meter->drawn) {
        put(ERASE_LINE);
        meter->drawn = false;
    }
}
