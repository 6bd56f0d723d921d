/* SPDX-License-Identifier: MIT
 *
 * profilers_gperftools.c: gperftools as the profiler (profilers.h). Its rate is what the
 * environment's CPUPROFILE_FREQUENCY said when the process started.
 */
#include "measure.h"
#include "profilers.h"

#include <gperftools/profiler.h>
#include <signal.h>
#include <stdlib.h>

const char profiler_name[] = "gperftools";
const int profiler_signal = SIGPROF;

void profiler_start(int hz)
{
    const char *frequency = getenv("CPUPROFILE_FREQUENCY");
    if (frequency == NULL || strtol(frequency, NULL, 10) != hz) {
        bench_fail("CPUPROFILE_FREQUENCY is not %d", hz);
    }
    if (ProfilerStart("/dev/null") == 0) {
        bench_fail("ProfilerStart failed");
    }
}

void profiler_stop(void)
{
    ProfilerStop();
}
