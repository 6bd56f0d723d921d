/* SPDX-License-Identifier: MIT
 *
 * meter.h: a line on the terminal with the progress of long work, such as "cpprof: reading: 312 of
 * 1000 files".
 *
 *   cp_meter meter;
 *   cp_meter_begin(&meter, "reading", "files");
 *   for (...) { cp_meter_step(&meter, i, count); ... }
 *   cp_meter_end(&meter);
 *
 * Nothing is drawn in the first half second, nor unless standard error is a terminal and cpprof is
 * in its foreground. A step costs a look at the clock. cp_meter_end() takes the line away.
 */
#ifndef CP_METER_H
#define CP_METER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_meter {
    const char *work, *things;
    bool enabled;
    bool drawn;      /* the line is on the screen */
    int64_t next_ns; /* nothing is drawn before */
} cp_meter;

/* No meter of the calling thread is drawn: another thread shows the progress. */
void cp_meter_silence_thread(void);

/* The texts are not copied. */
void cp_meter_begin(cp_meter *meter, const char *work, const char *things);

/* `done` of `total` things are done; total 0: it is not known. */
void cp_meter_step(cp_meter *meter, uint64_t done, uint64_t total);

void cp_meter_end(cp_meter *meter);

#endif
