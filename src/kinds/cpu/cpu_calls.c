/* SPDX-License-Identifier: MIT
 *
 * cpu_calls.c: the functions of <pprof.h> that start and stop a CPU profile.
 *
 * Zone: NORMAL.
 * Tested by: e2e.api
 */
#include "pprof.h"

#include "host/pausable.h"
#include "kinds/cpu/cpu_control.h"

#include <errno.h>
#include <stddef.h>

int pprof_start_cpu_profile(pprof_writer writer)
{
    return pprof_start_cpu_profile_opts(writer, NULL);
}

int pprof_start_cpu_profile_opts(pprof_writer writer, const pprof_cpu_options *options)
{
    pp_cpu_request request = {.writer = writer};
    if (options != NULL) {
        if (options->size < sizeof *options) {
            return -EINVAL;
        }
        request.hz = options->hz;
        request.engine = options->engine;
        request.format = options->format;
    }
    if (request.engine == PPROF_ENGINE_PERF) {
        pp_pausables_keep_table(); /* before a lock is taken that one of the threads may wait for */
    }
    return pp_cpu_control_start(&request);
}

int pprof_stop_cpu_profile(void)
{
    return pp_cpu_control_stop(false, false);
}
