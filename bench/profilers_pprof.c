/* SPDX-License-Identifier: MIT
 *
 * profilers_pprof.c: libpprof as the profiler (profilers.h).
 */
#include "measure.h"
#include "profilers.h"

#include <pprof.h>
#include <string.h>

const char profiler_name[] = "pprof";
const int profiler_signal = 32;

static int discard(void *context, const void *data, size_t size)
{
    (void)context, (void)data, (void)size;
    return 0;
}

void profiler_start(int hz)
{
    pprof_writer nowhere = {.write = discard};
    pprof_cpu_options options = {.size = sizeof options, .hz = hz};
    int error = pprof_start_cpu_profile_opts(nowhere, &options);
    if (error != 0) {
        bench_fail("the CPU profile does not start: %s", strerror(-error));
    }
}

void profiler_stop(void)
{
    pprof_stop_cpu_profile();
}
