/* SPDX-License-Identifier: MIT
 *
 * clock.c: see clock.h.
 *
 * Tested by: unit.cmd_meter
 */
#include "base/clock.h"

#include <time.h>

int64_t cp_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void cp_sleep_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}
