/* SPDX-License-Identifier: MIT
 *
 * profiles.c: the profiles that have a name: {name, count, write} of each. Those that are built in
 * are listed here; the program's own are in custom_profiles.c.
 *
 * Zone: NORMAL.
 * Locks: none of its own.
 * Owns: the list of built-in profiles.
 */
#include "pprof.h"

#include "contention_control.h"
#include "contention_text.h"
#include "count_control.h"
#include "custom_profiles.h"
#include "fd_control.h"
#include "heap_control.h"
#include "heap_text.h"
#include "preload.h"
#include "profile/value_rows.h"
#include "profile_names.h"
#include "sample/heap_cycles.h"
#include "store/heap_peak.h"
#include "sys/modules.h"
#include "sys/sanitizers.h"
#include "thread_control.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* ---- built in ---- */

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

static bool peak_is_there(void)
{
    return pp_heap_peak_wanted;
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

static int write_thread(pprof_writer writer, int debug)
{
    return pp_thread_control_write("thread", writer, debug);
}

static int write_goroutine(pprof_writer writer, int debug)
{
    return pp_thread_control_write("goroutine", writer, debug);
}

/* By name. */
static pprof_profile built_in[] = {
    {.name = "allocs", .count = count_heap, .write = write_allocs, .collects = true},
    {.name = "block", .count = count_block, .write = write_block},
    {.name = "fd",
     .count = pp_fd_control_count,
     .write = pp_fd_control_write,
     .is_there = pp_fd_control_is_on},
    {.name = "heap", .count = count_heap, .write = write_heap, .collects = true},
    {.name = "mutex", .count = count_mutex, .write = write_mutex},
    {.name = "peak", .count = count_heap, .write = write_peak, .is_there = peak_is_there},
    {.name = "thread", .count = pp_thread_control_count, .write = write_thread},
    {.name = "threadcreate",
     .count = pp_threadcreate_control_count,
     .write = pp_threadcreate_control_write},
};

enum { BUILT_IN = sizeof built_in / sizeof *built_in };

/* Another name for "thread", for those who know no other; not listed. */
static pprof_profile goroutine = {
    .name = "goroutine", .count = pp_thread_control_count, .write = write_goroutine};

static bool is_there(const pprof_profile *profile)
{
    return profile->is_there == NULL || profile->is_there();
}

/* ---- the registry ---- */

pprof_profile *pprof_new_profile(const char *name)
{
    pp_preload_link();
    int error = pp_profile_name_check(name);
    pprof_profile *profile = NULL;
    if (error == 0) {
        pp_preload_prepare_walks();
        pp_modules_refresh();
        profile = pp_custom_profile_new(name, &error);
    }
    if (profile == NULL) {
        errno = -error;
    }
    return profile;
}

pprof_profile *pprof_lookup(const char *name)
{
    pp_preload_link();
    if (name == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < BUILT_IN; i++) {
        if (strcmp(built_in[i].name, name) == 0) {
            return is_there(&built_in[i]) ? &built_in[i] : NULL;
        }
    }
    return strcmp(goroutine.name, name) == 0 ? &goroutine : pp_custom_profile_find(name);
}

/* The first built-in one from index *i on that is there; NULL behind the last. */
static pprof_profile *next_built_in(size_t *i)
{
    while (*i < BUILT_IN && !is_there(&built_in[*i])) {
        ++*i;
    }
    return *i < BUILT_IN ? &built_in[*i] : NULL;
}

size_t pprof_profiles(pprof_profile **profiles, size_t capacity)
{
    pp_preload_link();
    size_t count = 0;
    size_t i = 0;
    pprof_profile *custom = pp_custom_profiles_first();
    for (pprof_profile *p = next_built_in(&i); p != NULL || custom != NULL; count++) {
        bool is_custom = p == NULL || (custom != NULL && strcmp(custom->name, p->name) < 0);
        if (profiles != NULL && count < capacity) {
            /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
            pp_sanitizers_write(&profiles[count], sizeof *profiles);
            profiles[count] = is_custom ? custom : p;
        }
        if (is_custom) {
            custom = __atomic_load_n(&custom->next, __ATOMIC_ACQUIRE);
        } else {
            i++;
            p = next_built_in(&i);
        }
    }
    return count;
}

/* ---- what they hold ---- */

const char *pprof_profile_name(const pprof_profile *profile)
{
    return profile != NULL ? profile->name : NULL;
}

size_t pprof_profile_count(pprof_profile *profile)
{
    if (profile == NULL) {
        return 0;
    }
    return profile->count != NULL ? profile->count() : pp_value_table_count(profile->values);
}

static int write_values(const pprof_profile *profile, pprof_writer writer, int debug)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_value_rows rows = {.count = 0};
    int error = pp_value_rows_read(profile->values, &arena, &rows);
    if (error == 0) {
        error = pp_count_write(profile->name, rows.list, rows.count, debug, writer);
    }
    pp_value_rows_release(&rows);
    pp_arena_release(&arena);
    return error;
}

int pprof_profile_write(pprof_profile *profile, pprof_writer writer, int debug)
{
    if (profile == NULL || writer.write == NULL || debug < PPROF_DEBUG_BARE) {
        return -EINVAL;
    }
    if (profile->collects) {
        pp_heap_collect();
    }
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_modules_refresh();
    int error = profile->write != NULL ? profile->write(writer, debug)
                                       : write_values(profile, writer, debug);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

int pprof_write_heap_profile(pprof_writer writer)
{
    return pprof_profile_write(pprof_lookup("heap"), writer, 0);
}
