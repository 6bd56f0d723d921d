/* SPDX-License-Identifier: MIT
 *
 * pprof.c: the public functions of <pprof.h> that are more than a name for one of ours.
 *
 * Zone: NORMAL.
 */
#include "pprof.h"

#include "kinds/cpu/cpu_control.h"
#include "api/preload.h"

#include <errno.h>
#include <string.h>

#define VERSION_MAJOR 0
#define VERSION_MINOR 1
#define VERSION_PATCH 0

#define TEXT_OF(x)   #x
#define STRING_OF(x) TEXT_OF(x)

int pprof_start_cpu_profile(pprof_writer writer)
{
    return pprof_start_cpu_profile_opts(writer, NULL);
}

int pprof_start_cpu_profile_opts(pprof_writer writer, const pprof_cpu_options *options)
{
    pp_preload_link();
    pp_cpu_request request = {.writer = writer};
    if (options != NULL) {
        if (options->size < sizeof *options) {
            return -EINVAL;
        }
        request.hz = options->hz;
        request.engine = options->engine;
        request.format = options->format;
    }
    return pp_cpu_control_start(&request);
}

int pprof_stop_cpu_profile(void)
{
    return pp_cpu_control_stop(false, false);
}

unsigned pprof_version_number(void)
{
    return VERSION_MAJOR * 10000 + VERSION_MINOR * 100 + VERSION_PATCH;
}

const char *pprof_version_string(void)
{
    return STRING_OF(VERSION_MAJOR) "." STRING_OF(VERSION_MINOR) "." STRING_OF(VERSION_PATCH);
}
