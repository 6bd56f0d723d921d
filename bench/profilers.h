/* SPDX-License-Identifier: MIT
 *
 * profilers.h: a profiler that a program is linked with, started and stopped from inside. One of
 * profilers_*.c is linked in.
 */
#ifndef BENCH_PROFILERS_H
#define BENCH_PROFILERS_H

extern const char profiler_name[];
extern const int profiler_signal; /* that it takes samples in */

/* Profiles the process at `hz`, into nowhere. Ends the program if that fails. */
void profiler_start(int hz);
void profiler_stop(void);

#endif
