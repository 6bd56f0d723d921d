/* SPDX-License-Identifier: MIT
 *
 * profiles.c: the profiles that have a name: {name, count, write} of each.
 *
 * Zone: NORMAL.
 * Locks: none of its own.
 * Owns: the list of built-in profiles.
 */
#include "pprof.h"

#include "contention_control.h"
#include "contention_text.h"
#include "heap_control.h"
#include "heap_text.h"
#include "preload.h"
#include "store/heap_peak.h"
#include "sys/modules.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct pprof_profile {
    const char *name;
    size_t (*count)(void);
    int (*write)(pprof_writer writer, int debug);
};

static size_t count_heap(void)
{
    size_t records = 0;
    pprof_mem_profile(NULL, 0, &records, true);
    return records;
}

static int write_view(pp_heap_view view, pprof_writer writer, int debug)
{
    return debug == 0 ? pp_heap_control_write(view, writer)
                      : pp_heap_text_write(debug == PPROF_DEBUG_BARE, writer);
}

static int write_heap(pprof_writer writer, int debug)
{
    return write_view(PP_HEAP_INUSE, writer, debug);
}

static int write_allocs(pprof_writer writer, int debug)
{
    return write_view(PP_HEAP_ALLOCS, writer, debug);
}

static int write_peak(pprof_writer writer, int debug)
{
    return debug == 0 ? pp_heap_control_write(PP_HEAP_PEAK, writer) : -ENOTSUP;
}

static size_t count_block(void)
{
    size_t records = 0;
    pprof_block_profile(NULL, 0, &records);
    return records;
}

static size_t count_mutex(void)
{
    size_t records = 0;
    pprof_mutex_profile(NULL, 0, &records);
    return records;
}

static int write_contention(pp_contention_view view, pprof_writer writer, int debug)
{
    return debug == 0 ? pp_contention_control_write(view, writer)
                      : pp_contention_text_write(view, debug == PPROF_DEBUG_BARE, writer);
}

static int write_block(pprof_writer writer, int debug)
{
    return write_contention(PP_CONTENTION_BLOCK, writer, debug);
}

static int write_mutex(pprof_writer writer, int debug)
{
    return write_contention(PP_CONTENTION_MUTEX, writer, debug);
}

static pprof_profile built_in[] = {
    {"allocs", count_heap, write_allocs}, {"block", count_block, write_block},
    {"heap", count_heap, write_heap},     {"mutex", count_mutex, write_mutex},
    {"peak", count_heap, write_peak},
};

pprof_profile *pprof_lookup(const char *name)
{
    pp_preload_link();
    for (size_t i = 0; name != NULL && i < sizeof built_in / sizeof *built_in; i++) {
        if (strcmp(built_in[i].name, name) == 0 &&
            (built_in[i].write != write_peak || pp_heap_peak_wanted)) {
            return &built_in[i];
        }
    }
    return NULL;
}

const char *pprof_profile_name(const pprof_profile *profile)
{
    return profile != NULL ? profile->name : NULL;
}

size_t pprof_profile_count(pprof_profile *profile)
{
    return profile != NULL ? profile->count() : 0;
}

int pprof_profile_write(pprof_profile *profile, pprof_writer writer, int debug)
{
    if (profile == NULL || writer.write == NULL || debug < PPROF_DEBUG_BARE) {
        return -EINVAL;
    }
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_modules_refresh();
    int error = profile->write(writer, debug);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

int pprof_write_heap_profile(pprof_writer writer)
{
    return pprof_profile_write(pprof_lookup("heap"), writer, 0);
}
