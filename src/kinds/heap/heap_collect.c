/* SPDX-License-Identifier: MIT
 *
 * heap_collect.c: pprof_set_collector(), and the collector's last run at the end of the process.
 *
 * When the process ends, a destructor of this library writes the profile after the program's own
 * destructors: by then the program may have destroyed the data of its collector. So the last run is
 * an atexit() handler, registered when the program sets its collector: objects that existed by then
 * are destroyed by handlers that run later, and still exist.
 *
 *   statics constructed, pprof_set_collector(), more atexit(f)
 *   exit() --> f --> [the collector] --> statics destroyed --> our destructor: the file
 *
 * Zone: NORMAL.
 * Owns: whether the last run is due.
 * Tested by: e2e.collector
 */
#include "kinds/heap/heap_collect.h"

#include "host/pausable.h"
#include "kinds/heap/heap_cycles.h"
#include "unwind/in_handler.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

PP_NEEDS_KINDS;

static struct {
    bool is_due;              /* the last run is wanted, and has not begun */
    void (*registered)(void); /* the collector for which atexit() was last called */
    const pp_end_file *files; /* NULL: none was ever wanted */
} last_run;

/* The handler that was registered last runs first; the others find that the run is not due. Some
 * programs call exit() in a signal handler, though they must not. The thread may have been in the
 * collector when the signal came, or hold its locks. */
static void collect_at_end(void)
{
    if (__atomic_exchange_n(&last_run.is_due, false, __ATOMIC_ACQ_REL) &&
        pp_end_files_wanted(last_run.files) && !pp_in_handler()) {
        pp_heap_collect();
    }
}

/* A program that sets the same collector again and again has one handler. */
void pprof_set_collector(void (*collect)(void))
{
    pp_heap_collector_set(collect);
    if (collect == NULL) {
        return;
    }
    pp_pausables_keep_table(); /* a server calls it (http/server.h) */
    __atomic_store_n(&last_run.is_due, true, __ATOMIC_RELEASE);
    if (__atomic_exchange_n(&last_run.registered, collect, __ATOMIC_ACQ_REL) != collect) {
        /* If there is no memory for a handler, the profile is that of the last cycle. */
        (void)atexit(collect_at_end);
        (void)at_quick_exit(collect_at_end);
    }
}

void pp_heap_collect_for(const pp_end_file *files)
{
    last_run.files = files;
}

void pp_heap_collect_after_fork(void)
{
    __atomic_store_n(&last_run.is_due, false, __ATOMIC_RELEASE);
}
