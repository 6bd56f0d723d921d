/* SPDX-License-Identifier: MIT
 *
 * profiles.c: the profiles that have a name, and the public functions of the heap.
 *
 * Zone: NORMAL.
 * Locks: none of its own.
 * Owns: the list of built-in profiles.
 */
#include "pprof.h"

#include "heap_control.h"
#include "preload.h"
#include "sample/heap.h"
#include "store/heap_peak.h"
#include "sys/modules.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct pprof_profile {
    const char *name;
    int (*write_proto)(pprof_writer writer);
};

static int write_heap(pprof_writer writer)
{
    return pp_heap_control_write(PP_HEAP_INUSE, writer);
}

static int write_allocs(pprof_writer writer)
{
    return pp_heap_control_write(PP_HEAP_ALLOCS, writer);
}

static int write_peak(pprof_writer writer)
{
    return pp_heap_control_write(PP_HEAP_PEAK, writer);
}

static pprof_profile built_in[] = {
    {"allocs", write_allocs},
    {"heap", write_heap},
    {"peak", write_peak},
};

pprof_profile *pprof_lookup(const char *name)
{
    pp_preload_link();
    for (size_t i = 0; name != NULL && i < sizeof built_in / sizeof *built_in; i++) {
        if (strcmp(built_in[i].name, name) == 0 &&
            (built_in[i].write_proto != write_peak || pp_heap_peak_wanted)) {
            return &built_in[i];
        }
    }
    return NULL;
}

const char *pprof_profile_name(const pprof_profile *profile)
{
    return profile != NULL ? profile->name : NULL;
}

int pprof_profile_write(pprof_profile *profile, pprof_writer writer, int debug)
{
    if (profile == NULL || writer.write == NULL) {
        return -EINVAL;
    }
    if (debug != 0) {
        return -ENOTSUP;
    }
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_modules_refresh();
    int error = profile->write_proto(writer);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

int pprof_write_heap_profile(pprof_writer writer)
{
    return pprof_profile_write(pprof_lookup("heap"), writer, 0);
}

int64_t pprof_set_mem_profile_rate(int64_t bytes)
{
    pp_preload_link();
    if (bytes < 0) {
        return pp_heap_rate();
    }
    return pp_heap_set_rate(bytes);
}
